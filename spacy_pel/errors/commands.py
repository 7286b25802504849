"""NIL, evaluation, reports and the command line: E600-E699."""


class CommandErrors:
    E600 = (
        "[PEL-E600] Expected config overrides of the form --section.key value, but '{came}' came. "
        "See the command's --help for its own options."
    )
    E610 = (
        "[PEL-E610] Expected mentions of both kinds, linkable and NIL, to fit the NIL model, but {n_nil} of "
        "{n} are NIL. Use a development set with mentions whose entity the KB lacks."
    )
    E611 = (
        "[PEL-E611] Expected a NIL model fitted on {expected}, but this one was fitted on {came}. "
        "Fit it anew with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    E612 = (
        "[PEL-E612] Expected a {kind} with {expected}, but the saved one has {came}. "
        "Fit it anew with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    E613 = "[PEL-E613] Expected a NIL precision above 0 and at most 1, but came {came}. Mend --precision."
    E614 = (
        "[PEL-E614] Expected a threshold with a NIL precision of {expected}, but none reaches it: the best is {best} "
        "on {n} mentions. Ask for less, or use a NIL model that separates better."
    )
    E615 = (
        "[PEL-E615] Expected the mentions' vectors of width {expected} that P(NIL) was fitted on, but came {came}. "
        "Fit it anew with: spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    E620 = (
        "[PEL-E620] Expected a corpus with gold mentions, but it holds none. Check the file: one JSON object "
        'per line with "text" and "mentions".'
    )
    E621 = (
        "[PEL-E621] Expected gold ids of the pipeline's KB, but it knows none of the ids of {n} mentions, e.g. "
        "'{example}'. Use a corpus with ids of this KB, or a pipeline whose KB has these ids."
    )
    E622 = "[PEL-E622] Expected --group-by meta.KEY, a key of the documents' meta such as meta.world, but '{came}' came."
    E623 = (
        "[PEL-E623] Expected text or a number at {key} of every document, but the document '{document}' has none. "
        "Keys of its meta: {known}."
    )
    E630 = (
        "[PEL-E630] Expected annotated text for the rows of kind 'mention', but none came. "
        "Add: --mentions CORPUS.jsonl (training text only)."
    )
    E631 = "[PEL-E631] The index type '{name}' does not take the settings {came}. Leave them out."
    E640 = (
        "[PEL-E640] Expected texts in one of the formats {known}, but '{came}' came for {path}. "
        "Name the format with --format."
    )
    E641 = (
        '[PEL-E641] {where}: expected a "text" with the document\'s text, but came {came}. Rename the column.'
    )
    E642 = "[PEL-E642] Expected an output file of the kinds {known}, but {path} came. Rename it."
    E643 = (
        "[PEL-E643] Expected no parts of an earlier run, but {folder} holds some. Add --resume to go on with "
        "them, or delete the folder to start anew."
    )
    E644 = (
        "[PEL-E644] Expected to go on with the same input, pipeline and settings, but changed since the run that "
        "left {folder}: {changed}. Delete the folder to start anew."
    )
    E645 = "[PEL-E645] Expected texts to link, but {path} holds none. Check the path and --format."
    E650 = "[PEL-E650] The pipeline {path} cannot be loaded: {came}. Assemble it anew."
    E651 = (
        "[PEL-E651] Expected a pipeline with the component '{factory}' at {path}, but it has: {came}. "
        "Add the component, or name another pipeline."
    )
    E652 = (
        "[PEL-E652] Expected entities of the knowledge base that the corpus names, but {came}. Mend --entities, or "
        "leave it out to take those with most mentions."
    )
    E653 = (
        "[PEL-E653] Expected the folder of a bi-encoder, of a ranker made of one or of a pipeline at {path}, but "
        "{came}. Name another model."
    )
    E654 = (
        "[PEL-E654] Expected a model that gives each text one vector, but '{came}' compares tokens. Name a model "
        "whose similarity is the cosine, the dot product or the Euclidean distance."
    )
    E660 = (
        "[PEL-E660] Expected one place to store the calibration, but --apply-to and --output came. Name one."
    )
    E661 = (
        "[PEL-E661] Expected a {part} of the kind {expected} in the pipeline {path}, but it has a {came}. "
        "Both pipelines must be assembled with the same parts."
    )
    E662 = (
        "[PEL-E662] Expected runs over the same mentions, NIL for the same ones, but {a} has {n_a} mentions, {nil_a} "
        "of them NIL, and {b} has {n_b}, {nil_b} of them NIL. Evaluate all of them on one corpus with one "
        "knowledge base."
    )
    E663 = (
        "[PEL-E663] Expected NIL mentions, but {path} has none. Evaluate on a corpus whose entities are partly out of "
        "the knowledge base; the command okb makes one."
    )
    E664 = "[PEL-E664] Expected 64 candidates a mention, but {path} has {top_k} at most. Evaluate anew with --top-k 64."
    E670 = (
        "[PEL-E670] Expected a KB with entities at {path}, but it is empty. Build it with: spacy-pel kb build OUT "
        "--reader NAME FILE"
    )
    E671 = (
        "[PEL-E671] Expected gold ids of the KB {kb} in {path}, but it knows none of them. Use the KB that the "
        "corpus was annotated with."
    )
    E690 = (
        "[PEL-E690] The study {path} cannot be used: {came}. See configs/study.cfg for an example of its "
        "[study] section."
    )
    E691 = (
        "[PEL-E691] Expected in {path} a run of this study, but it was made with other settings. Choose another "
        "--output, or delete that folder."
    )
    E692 = (
        "[PEL-E692] Expected runs of the study {path} that differ in the number {setting} and in nothing else, but "
        "it has none. Its numbers: {known}."
    )
    E693 = (
        "[PEL-E693] Expected finished runs of the study {path} in {folder}, but there are no two that differ in "
        "{setting}. Run it with: spacy-pel study {path} --output {folder}"
    )
    E694 = (
        "[PEL-E694] Expected either --study CONFIG FOLDER or --run VALUE=FOLDER with different numbers, but came "
        "{came}."
    )
    E696 = "[PEL-E696] The run '{run}' of the study cannot be made. {came}"
    E695 = (
        "[PEL-E695] Expected {name} in the evaluation {path}, but it has none. Evaluate anew with --top-k 64."
    )
    E601 = "[PEL-E601] The config {path} cannot be used: {came}. Mend the named setting."


class CommandWarnings:
    W600 = (
        "[PEL-W600] The config of {path} sets threshold = {value}, which wins over the calibrated one. "
        "Set it to null to use the calibration."
    )

"""NIL, evaluation, reports and the command line: E600-E699."""


class CommandErrors:
    E600 = (
        "[PEL-E600] Expected config overrides of the form --section.key value, got '{got}'. See the command's "
        "--help for its own options."
    )
    E601 = "[PEL-E601] The config {path} cannot be used: {got}. Fix this setting."
    E605 = (
        "[PEL-E605] Expected a pipeline that can link the documents, but it failed on all of the first {n}; on the "
        "document '{id}': {got}. Fix the pipeline."
    )
    E606 = "[PEL-E606] Expected a text that the pipeline can link, but on the document '{id}' it failed: {got}."
    E607 = "[PEL-E607] Expected a pipeline that can link the documents, but it failed on all {n}. Fix the pipeline."
    E610 = (
        "[PEL-E610] Expected both linkable and NIL mentions to fit the NIL model, but {n_nil} of {n} are NIL. Use "
        "a development set in which the KB lacks the entities of some mentions."
    )
    E611 = (
        "[PEL-E611] Expected a NIL model fitted on {expected}, got one fitted on {got}. Refit it with: "
        "spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    E613 = "[PEL-E613] Expected a NIL precision above 0 and at most 1, got {got}. Fix --precision."
    E614 = (
        "[PEL-E614] Expected a threshold with a NIL precision of {expected}, but no threshold reaches it: the best "
        "is {best} on {n} mentions. Lower --precision, or use a NIL model that separates better."
    )
    E615 = (
        "[PEL-E615] P(NIL) was fitted on mention vectors of width {expected}, got width {got}. Refit it with: "
        "spacy-pel calibrate PIPELINE CORPUS.jsonl"
    )
    E616 = "[PEL-E616] Expected {part} with {name} of at least {least}, got {got}. Fix this setting."
    E620 = (
        "[PEL-E620] Expected a corpus with gold mentions, but it has none. Check the file: one JSON object per "
        'line with "text" and "mentions".'
    )
    E621 = (
        "[PEL-E621] Expected gold ids from the pipeline's KB, but the KB has none of the ids of {n} "
        "mentions, e.g. '{example}' (it has ids such as '{own}'). Use a corpus annotated with this KB, or a pipeline "
        "whose KB has these ids.{hint}"
    )
    E622 = "[PEL-E622] Expected --group-by meta.KEY with a key of the documents' meta, e.g. meta.world, got '{got}'."
    E623 = (
        "[PEL-E623] Expected a string or a number at {key} in every document, but the document '{document}' has "
        "none. Keys of its meta: {known}."
    )
    E624 = (
        "[PEL-E624] Expected a KB with entities, but the pipeline's is empty. Add some with: spacy-pel kb add PIPELINE "
        "ENTITIES.jsonl"
    )
    E625 = (
        "[PEL-E625] Expected mentions with the ids of entities, but all {n} are NIL. Recall counts mentions whose "
        "entity is in the KB: use a corpus that has some."
    )
    E626 = (
        "[PEL-E626] Expected --fold as PIPELINE=CORPUS, got {got!r}. Example: --fold "
        "training/fold_0=corpus/fold_0.jsonl"
    )
    E630 = (
        "[PEL-E630] Rows of the kind 'mention' need annotated text. Add: --mentions CORPUS.jsonl (training text only)."
    )
    E631 = "[PEL-E631] The index type '{name}' does not take the settings {got}. Remove them."
    E632 = (
        "[PEL-E632] Expected the column '{name}' in the batch, got the columns {got}. Name the right one with the "
        "argument '{argument}'."
    )
    E633 = "[PEL-E633] Expected strings in the column '{name}', got {got}. Convert it, or name another column."
    E634 = "[PEL-E634] Expected a path, or a URI of a file system that Arrow can open, got {path}: {got}. Fix it."
    E635 = "[PEL-E635] Expected a file or files of type {known} at {path}, got none. Convert the texts to one of these."
    E636 = "[PEL-E636] Expected {expected} documents or more in {path}, got fewer. Do not change it during the run."
    E637 = (
        "[PEL-E637] The cluster gave up: {got}. What was linked is kept: run the command again with --resume. With "
        "--verbose it shows all that the cluster says."
    )
    E638 = (
        "[PEL-E638] {path} exists, and it is not known to be the whole output of this command. Add --overwrite to "
        "replace it, or choose another file."
    )
    E639 = (
        "[PEL-E639] {path} is the whole output of another run: {changed}. Add --overwrite to link again, or choose "
        "another file."
    )
    E640 = "[PEL-E640] Expected texts in one of the formats {known}, got {got}. Name the format with --format."
    E641 = '[PEL-E641] {where}: expected a "text" column or key that holds text, got {got}. {todo}'
    E642 = "[PEL-E642] Expected an output whose name ends in {known}, got {path}. {todo}"
    E643 = (
        "[PEL-E643] {folder} holds the results of an interrupted run. Add --resume to continue it, or delete the "
        "folder to start over."
    )
    E644 = (
        "[PEL-E644] Cannot resume the run in {folder}: {changed} since it was interrupted. Repeat the command as it "
        "was, or delete the folder to start over."
    )
    E645 = "[PEL-E645] Expected texts to link, but {path} holds none. Check the path and --format."
    E646 = "[PEL-E646] Expected one of the formats {known}, got '{got}'. Fix --to."
    E647 = "[PEL-E647] Expected {wanted} to replace at {path}, got {got}. Choose another output."
    E648 = (
        "[PEL-E648] Expected a folder of .txt files or one of BioC files, got {n_txt} .txt and {n_bioc} .xml or "
        ".json files in {path}. Say which to link with --format txt or --format bioc."
    )
    E649 = "[PEL-E649] Expected an output apart from the input, got {path}. Choose another file or folder."
    E650 = "[PEL-E650] The pipeline {path} cannot be loaded: {got}. Assemble it again."
    E651 = (
        "[PEL-E651] Expected a pipeline with the component '{factory}' at {path}, got the components: {got}. Add "
        "the component, or choose another pipeline."
    )
    E652 = (
        "[PEL-E652] Expected entities of the knowledge base with mentions in the corpus, but {got}. Fix "
        "--entities, or leave it out to plot the entities with the most mentions."
    )
    E653 = (
        "[PEL-E653] Expected a bi-encoder, a ranker made of one or a pipeline at {path}, but {got}. Choose "
        "another model."
    )
    E654 = (
        "[PEL-E654] Expected a model with one vector per text, but '{got}' compares tokens. Choose a model whose "
        "similarity is cosine, dot product or Euclidean distance."
    )
    E655 = (
        "[PEL-E655] {path} is the knowledge base of a pipeline, whose index would not follow the change. Give the "
        "pipeline instead: spacy-pel kb add {pipeline} FILE"
    )
    E656 = (
        "[PEL-E656] Expected a model, or a pipeline with one linker that has an encoder, at {path}, got {got}. {todo}"
    )
    E657 = "[PEL-E657] {path} exists. Add --overwrite to replace it, or choose another file."
    E658 = (
        "[PEL-E658] Expected a new folder at {path}, got {got}. Choose another one, or replace a pipeline with "
        "--overwrite."
    )
    E659 = (
        "[PEL-E659] Expected a file whose name ends in {known}, perhaps with .gz, or a META folder of the UMLS, got "
        "{got}. {todo}"
    )
    E698 = (
        "[PEL-E698] Expected files of one kind, got {first} (read by '{reader}') and {path} (read by '{other}'). Add them "
        "one after the other, or name one reader for all with --reader."
    )
    E660 = "[PEL-E660] Expected --apply-to or --output, got both. Use one of them."
    E661 = (
        "[PEL-E661] Expected the {part} {expected} in the pipeline {path}, got {got}. Assemble both pipelines "
        "with the same parts."
    )
    E662 = (
        "[PEL-E662] Expected all runs to have the same mentions and the same NIL mentions, but {a} has "
        "{n_a} mentions ({nil_a} NIL) and {b} has {n_b} ({nil_b} NIL). Evaluate all runs on the same "
        "corpus with the same knowledge base."
    )
    E663 = (
        "[PEL-E663] Expected NIL mentions, but {path} has none. Evaluate on a corpus with entities that "
        "are not in the knowledge base; make one with: spacy-pel research okb"
    )
    E664 = (
        "[PEL-E664] Expected 64 candidates per mention, but {path} has at most {top_k}. Evaluate again with --top-k 64."
    )
    E666 = (
        "[PEL-E666] Expected the default pipeline at {path}, got no such folder. Run this in the root of the repository, "
        "or name a pipeline folder with {option}."
    )
    E668 = (
        "[PEL-E668] Expected all worker processes to reach the end, but one ended with exit code {got}. If it was "
        "killed for lack of memory (-9), use fewer processes. `spacy-pel link` goes on with --resume."
    )
    E670 = (
        "[PEL-E670] Expected a KB with entities at {path}, but it is empty. Build it with: spacy-pel kb build OUT "
        "--reader NAME FILE"
    )
    E671 = (
        "[PEL-E671] Expected gold ids of the KB {kb} in {path}, but the KB has none of them. Use the KB that the "
        "corpus was annotated with.{hint}"
    )
    E672 = (
        '[PEL-E672] {where}: expected a correction {{"text": "…", "start": 0, "end": 4, "kb_id": "an id or NIL"}}, got '
        "{got}. Fix the line."
    )
    E673 = "[PEL-E673] Expected one of CORRECTIONS.jsonl, --list and --undo, got {got}. See: spacy-pel teach --help"
    E674 = "[PEL-E674] Expected corrections in {path}, got none. See: spacy-pel teach --help"
    E675 = "[PEL-E675] The memory of {path} changed while this command ran. Nothing was saved; run it again."
    E676 = "[PEL-E676] Expected a mention from 1 to {n}, got {got}. Fix --mention."
    E690 = (
        "[PEL-E690] The study {path} cannot be used: {got}. See configs/study.cfg for an example of a [study] section."
    )
    E691 = "[PEL-E691] The run in {path} was made with other settings. Choose another --output, or delete that folder."
    E692 = (
        "[PEL-E692] Expected runs of the study {path} that differ only in the numeric setting {setting}, "
        "but it has none. Settings that can be swept: {known}."
    )
    E693 = (
        "[PEL-E693] Expected at least two finished runs of the study {path} in {folder} that differ in {setting}. "
        "Run it with: spacy-pel research study {path} --output {folder}"
    )
    E694 = (
        "[PEL-E694] Expected either --study CONFIG FOLDER or several --run VALUE=FOLDER with different numbers, "
        "got {got}."
    )
    E695 = "[PEL-E695] Expected {name} in the evaluation {path}, but it is missing. Evaluate again with --top-k 64."
    E696 = "[PEL-E696] The run '{run}' of the study cannot be set up. {got}"
    E697 = "[PEL-E697] Expected --only to match a run of the study {path}, got '{pattern}'. Its runs: {labels}."


class CommandWarnings:
    W605 = "[PEL-W605] The pipeline failed on {n}; left out of the output: {shown}. All with their reasons: {path}"
    W606 = "[PEL-W606] The pipeline failed on the document '{id}', whose mentions count as wrong: {got}"
    W600 = (
        "[PEL-W600] The config of {path} sets threshold = {value}, which overrides the calibrated one. "
        "Set it to null to use the calibration."
    )
    W601 = (
        "[PEL-W601] {n} passages of {path} overlap the text before them. They were moved behind it, so offsets in "
        "the output differ from those of the input from there on."
    )

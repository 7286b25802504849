"""NIL, evaluation, reports and the command line: E600-E699."""


class CommandErrors:
    E600 = "Expected overrides like --section.key value, got '{got}'. See the command's --help for its own options."
    E601 = "The config {path} cannot be used: {got}. Fix this setting."
    E605 = "The pipeline failed on all of the first {n} documents; on '{id}': {got}. Fix the pipeline."
    E606 = "The pipeline failed on the document '{id}': {got}. Fix the pipeline, or leave out this text."
    E607 = "The pipeline failed on all {n} documents. Fix the pipeline."
    E610 = (
        "Expected linkable and NIL mentions, but {n_nil} of {n} are NIL. Use a corpus some of whose entities the KB "
        "lacks."
    )
    E611 = "Expected a NIL model fitted on {expected}, got one fitted on {got}. Refit it with: spacy-pel calibrate"
    E613 = "Expected a NIL precision above 0 and at most 1, got {got}. Fix --precision."
    E614 = "No threshold has a NIL precision of {expected}; the best is {best} on {n} mentions. Lower --precision."
    E615 = "P(NIL) was fitted on vectors of width {expected}, got {got}. Refit it with: spacy-pel calibrate"
    E616 = "Expected {part} with {name} of at least {least}, got {got}. Fix this setting."
    E620 = 'Expected a corpus with gold mentions, got none. Each line is a JSON object with "text" and "mentions".'
    E621 = (
        "The KB has none of the gold ids of {n} mentions, e.g. '{example}' (it has ids such as '{own}'). Use a corpus "
        "annotated with this KB.{hint}"
    )
    E622 = "Expected --group-by meta.KEY with a key of the documents' meta, e.g. meta.world, got '{got}'."
    E623 = (
        "Expected a string or number at {key} of each document, but '{document}' has none. Keys of its meta: {known}."
    )
    E624 = "The pipeline's KB is empty. Add entities with: spacy-pel kb add PIPELINE ENTITIES.jsonl"
    E625 = "Expected mentions with ids, but all {n} are NIL. Recall counts mentions whose entity is in the KB."
    E626 = "Expected --fold as PIPELINE=CORPUS, got {got!r}. Example: --fold training/fold_0=corpus/fold_0.jsonl"
    E630 = "Rows of the kind 'mention' need annotated text. Add: --mentions CORPUS.jsonl (training text only)."
    E631 = "The index type '{name}' does not take the settings {got}. Remove them."
    E632 = "Expected the column '{name}', got the columns {got}. Name the right one with '{argument}'."
    E633 = "Expected strings in the column '{name}', got {got}. Convert it, or name another column."
    E634 = "Expected a path, or a URI of a file system that Arrow can open, got {path}: {got}. Fix it."
    E635 = "Expected a file or files of type {known} at {path}, got none. Convert the texts to one of these."
    E636 = "Expected {expected} documents or more in {path}, got fewer. Do not change it during the run."
    E637 = (
        "The Ray job failed: {got}. What was linked is kept: run the same command with --resume to continue. --verbose "
        "shows all that Ray says."
    )
    E638 = (
        "Expected the links of the documents of {input} in {path}, which exists, got others. Add --overwrite to replace "
        "it, or choose another file."
    )
    E640 = "Expected texts in one of the formats {known}, got {got}. Name the format with --format."
    E641 = '{where}: expected a "text" column or key that holds text, got {got}. {todo}'
    E642 = "Expected an output whose name ends in {known}, got {path}. {todo}"
    E643 = "{folder} holds an interrupted run. Add --resume to continue it, or delete the folder to start over."
    E644 = (
        "Cannot resume the run in {folder}: {changed} since it began. Repeat the command as it was, or "
        "delete the folder to start over."
    )
    E645 = "Expected texts to link, but {path} holds none. Check the path and --format."
    E646 = "Expected one of the formats {known}, got '{got}'. Fix --to."
    E647 = "Expected {wanted} to replace at {path}, got {got}. Choose another output."
    E648 = (
        "Expected .txt or BioC files in {path}, got {n_txt} .txt and {n_bioc} .xml or .json files. Choose one kind "
        "with --format."
    )
    E649 = "Expected an output apart from the input, got {path}. Choose another file or folder."
    E650 = "The pipeline {path} cannot be loaded: {got}. Assemble it again."
    E651 = (
        "Expected a pipeline with the component '{factory}' at {path}, got: {got}. Add it, or choose another pipeline."
    )
    E653 = "Expected a bi-encoder, a ranker made of one or a pipeline at {path}, but {got}. Choose another model."
    E655 = "{path} is the KB of a pipeline, whose index must change with it. Use: spacy-pel kb add {pipeline} FILE"
    E656 = "Expected a model, or a pipeline with one linker and encoder, at {path}, got {got}. {todo}"
    E657 = "{path} exists. Add --overwrite to replace it, or choose another file."
    E658 = "Expected a new folder at {path}, got {got}. Choose another, or replace a pipeline with --overwrite."
    E659 = "Expected a file ending in {known} (or also .gz), or a META folder of the UMLS, got {got}. {todo}"
    E698 = (
        "Expected files of one kind, got {first} ('{reader}') and {path} ('{other}'). Add one at a time, or give "
        "--reader."
    )
    E660 = "Expected --apply-to or --output, got both. Use one of them."
    E661 = "Expected the {part} {expected} in the pipeline {path}, got {got}. Use pipelines with the same parts."
    E666 = "Expected the default pipeline at {path}. Run this in the root of the repository, or give {option}."
    E668 = (
        "A worker process ended with exit code {got}. If memory ran out (-9), use fewer processes. To continue "
        "`spacy-pel link`, run the same command with --resume."
    )
    E670 = "The KB at {path} is empty. Build it with: spacy-pel kb build OUT --reader NAME FILE"
    E671 = "The KB {kb} has none of the gold ids in {path}. Use the KB of the annotation.{hint}"
    E672 = '{where}: expected {{"text": "…", "start": 0, "end": 4, "kb_id": "an id or NIL"}}, got {got}. Fix the line.'
    E673 = "Expected one of CORRECTIONS.jsonl, --list and --undo, got {got}. See: spacy-pel teach --help"
    E674 = "Expected corrections in {path}, got none. See: spacy-pel teach --help"
    E675 = "The memory of {path} was changed by another process. Nothing was saved; run the command again."
    E676 = "Expected a mention from 1 to {n}, got {got}. Fix --mention."


class CommandWarnings:
    W605 = "The pipeline failed on {n}, left out of the output: {shown}. All with reasons: {path}"
    W606 = "The pipeline failed on the document '{id}', whose mentions count as wrong: {got}"
    W600 = "The config of {path} sets threshold = {value}, which overrides the calibration. Set it to null to use that."
    W601 = (
        "{n} passages of {path} overlap earlier text. They were moved behind it, so later offsets differ from the "
        "input."
    )

"""Texts of errors that only the studies raise; their codes are the product's."""

from spacy_pel.errors import WithCodes


class StudyErrors(metaclass=WithCodes):
    """Texts of PelError, to be filled by ``str.format``."""

    E652 = "Expected entities with mentions in the corpus, but {got}. Fix --entities, or leave it out."
    E654 = "Expected a model with one vector per text, but '{got}' compares tokens. Choose another model."
    E662 = (
        "Expected runs with the same mentions, but {a} has {n_a} ({nil_a} NIL) and {b} has {n_b} ({nil_b} NIL). "
        "Evaluate all runs on the same corpus and KB."
    )
    E617 = "Expected NIL mentions, but {path} has none. Make a corpus with NIL mentions with: spacy-pel research okb"
    E618 = "Expected 64 candidates per mention, but {path} has at most {top_k}. Evaluate again with --top-k 64."
    E671 = "The KB {kb} has none of the gold ids in {path}. Use the KB of the annotation.{hint}"
    E677 = "The study {path} cannot be used: {got}. See configs/study.cfg for an example of a [study] section."
    E678 = "The run in {path} was made with other settings. Choose another --output, or delete that folder."
    E679 = "The study {path} has no runs that differ only in the numeric setting {setting}. Settings to sweep: {known}."
    E693 = (
        "Expected two or more finished runs of {path} in {folder} that differ in {setting}. Run: spacy-pel research "
        "study {path} --output {folder}"
    )
    E694 = "Expected either --study CONFIG FOLDER or several --run VALUE=FOLDER with different numbers, got {got}."
    E695 = "Expected {name} in the evaluation {path}, but it is missing. Evaluate again with --top-k 64."
    E696 = "The run '{run}' of the study cannot be set up. {got}"
    E697 = "Expected --only to match a run of the study {path}, got '{pattern}'. Its runs: {labels}."
    E230 = (
        "Expected a type of the KB, or the name or id of a UMLS semantic type, got {got!r}. Types of the KB: {known}."
    )
    E231 = (
        "Expected entities of the types {got}, found none. Types of the KB: {known}. Fix --types, or use --groups or "
        "--share."
    )
    E232 = "Expected ids that start with {got!r}, but the KB has none. Its ids start with: {known}. Fix --groups."
    E233 = (
        "Expected a share of {total} entities that removes some and keeps some, but {share} removes {n}. Change "
        "--share."
    )
    E234 = "Expected mentions that become NIL, but none has one of the {n} entities chosen by {by}. Choose others."
    E235 = "Expected a new folder, or one of `spacy-pel research okb`, at {path}, got {got}. Choose another folder."
    E236 = "Expected one of --types, --groups and --share, got several. Pass only one of them."
    E237 = (
        "Expected splits as NAME=FILE with different names of letters and digits, got {got!r}. Example: --corpus "
        "train=corpus/train.jsonl"
    )
    E244 = (
        "Expected at least two worlds with different names, each as NAME=KB,CORPUS, got {got!r}. Example: --world "
        "CL=corpus/worlds/CL/kb,corpus/worlds/CL/dev.jsonl"
    )
    E245 = (
        "Expected tasks of at least two worlds, each as WORLD=PIPELINE,CORPUS, got {got!r}. Example: --task "
        "CL=training/worlds/CL/pipeline,corpus/worlds/CL/train.jsonl"
    )
    E619 = (
        'Expected the steps of a training in {path}, JSON lines with "step" and "grad_norm", but {got}. Choose another '
        "folder."
    )
    E331 = "Groups of mentions need a similarity of pooled vectors, not {got}. Use Euclidean, DotProduct or Cosine."
    E332 = "Expected a part of pel_anchors in [ranker.anchors], got {got}. Name one, e.g. spacy-pel.AllMentions.v1."
    E433 = "Expected a bi-encoder (spacy-pel.BiEncoder.v1) as the encoder of a DualEncoder, got {got}."
    E627 = "Expected runs as NAME=FOLDER with different names, got {got!r}. Example: --run 'Pb random=training/a'"

"""Comparisons and reports: E680-E689."""


class ReportErrors:
    E680 = (
        "[PEL-E680] Expected the folder of an evaluation, but {path} has no {name}. Make it with: "
        "spacy-pel evaluate PIPELINE CORPUS.jsonl --output {path}"
    )
    E681 = "[PEL-E681] {path}: expected predictions as `spacy-pel evaluate` writes them, got {got}. Evaluate again."
    E682 = (
        "[PEL-E682] Expected two evaluations of the same mentions, but {a} has {n_a} and {b} has {n_b}; {n} are "
        "in only one of them, e.g. {example}. Evaluate both pipelines on the same corpus."
    )
    E683 = (
        "[PEL-E683] Expected the same gold ids in both evaluations, but they differ for {n} mentions, e.g. "
        "{example}: {gold_a} in {a}, {gold_b} in {b}. Evaluate both pipelines with the same knowledge base."
    )
    E684 = (
        "[PEL-E684] Expected predictions with the types of the KB, but {path} has none. Pass the KB with "
        "--kb, or evaluate again."
    )
    E685 = "[PEL-E685] Expected the corpus that {run} was evaluated on, but {got}. Pass it with --corpus."
    E686 = (
        "[PEL-E686] Expected the folder of a KB or of a pipeline, but {path} has no {missing}. "
        "Choose one that `spacy-pel kb build` or `spacy assemble` wrote."
    )
    E687 = (
        '[PEL-E687] Expected the steps of a training in {path}, one JSON object per line with "step" and '
        '"grad_norm", but {got}. Choose a folder that `spacy-pel train` wrote.'
    )
    E688 = (
        "[PEL-E688] Expected runs as NAME=FOLDER with different names, got {got!r}. "
        "Example: --run 'Pb random=training/a'"
    )

"""Comparisons and reports: E680-E689."""


class ReportErrors:
    E680 = (
        "[PEL-E680] Expected the folder of an evaluation, but {path} has no {name}. Make it with: "
        "spacy-pel evaluate PIPELINE CORPUS.jsonl --output {path}"
    )
    E681 = (
        "[PEL-E681] {path}: expected predictions as `spacy-pel evaluate` writes them, but came {came}. "
        "Evaluate anew."
    )
    E682 = (
        "[PEL-E682] Expected two evaluations of the same mentions, but {a} has {n_a} and {b} has {n_b}; {n} are "
        "in one of them alone, e.g. {example}. Evaluate both pipelines on the same corpus."
    )
    E683 = (
        "[PEL-E683] Expected the same gold ids in both evaluations, but {n} mentions have others, e.g. {example}: "
        "{gold_a} in {a}, {gold_b} in {b}. Evaluate both pipelines with the same knowledge base."
    )
    E684 = (
        "[PEL-E684] Expected predictions with the KB's types, but {path} has none. Name the KB that it was "
        "evaluated with by --kb, or evaluate anew."
    )
    E685 = (
        "[PEL-E685] Expected the corpus of the evaluation {run}, but {came}. Name the corpus that was evaluated "
        "with --corpus."
    )
    E686 = (
        "[PEL-E686] Expected the folder of a KB or of a pipeline, but {path} has no {missing}. "
        "Name one that `spacy-pel kb build` or `spacy assemble` wrote."
    )
    E687 = (
        '[PEL-E687] Expected the steps of a training in {path}, one JSON object per line with "step" and '
        '"grad_norm", but {came}. Name a folder that `spacy-pel train` wrote.'
    )
    E688 = (
        "[PEL-E688] Expected runs as NAME=FOLDER with different names, but came {came!r}. "
        "Example: --run 'Pb random=training/a'"
    )

"""Comparisons and reports: E680-E689."""


class ReportErrors:
    E680 = "{path} is not an evaluation: it has no {name}. Make one with: spacy-pel evaluate"
    E681 = "{path}: expected predictions as `spacy-pel evaluate` writes them, got {got}. Evaluate again."
    E682 = "Expected the same mentions, but {a} has {n_a} and {b} {n_b}; {n} are in only one, e.g. {example}."
    E683 = "Expected the same gold ids, but {n} mentions differ, e.g. {example}: {gold_a} in {a}, {gold_b} in {b}."
    E684 = "Expected predictions with types of the KB, but {path} has none. Pass the KB with --kb, or evaluate again."
    E685 = "Expected the corpus that {run} was evaluated on, but {got}. Pass it with --corpus."
    E686 = "Expected the folder of a KB or of a pipeline, but {path} has no {missing}. Choose another folder."

"""Candidate tables written as lists, one for each mention; and a combiner that fits nothing."""

import numpy as np

from spacy_pel.types import CandidateTable


def table_of(rows, **features):
    """A table of the KB rows and features of mentions, whose lists may differ in length."""
    columns = {name: laid_out(values, 0.0) for name, values in features.items()}
    return CandidateTable(laid_out(rows, -1, np.int64), columns)


def laid_out(lists, empty=-np.inf, dtype=np.float32):
    """(n, k), as wide as the longest list; scores are -inf where there is no candidate."""
    table = np.full((len(lists), max(map(len, lists), default=0) or 1), empty, dtype=dtype)
    for row, values in zip(table, lists, strict=True):
        row[: len(values)] = values
    return table


class NearestRow:
    """Scores an entity by its best cosine, which is no probability."""

    is_probability = False

    def __call__(self, table):
        return np.where(table.filled, table.cosines, -np.inf).astype(np.float32)

    def fit(self, table, gold):
        """Nothing to learn."""

    def state(self):
        return {}

    def load_state(self, state):
        """Nothing to load."""

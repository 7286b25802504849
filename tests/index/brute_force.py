"""Compares all vectors with all vectors in NumPy: slow and simple."""

import numpy as np


class BruteForce:
    """Exact inner products over float32 vectors. Equal scores: the lower row first."""

    def __init__(self, vectors):
        self.vectors = vectors

    def search(self, queries, k, allowed=None):
        """(n, k) scores and rows, best first; row -1 where there are fewer than k."""
        ids = np.arange(len(self.vectors)) if allowed is None else np.flatnonzero(allowed)
        n_found = min(k, len(ids))
        scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
        rows = np.full((len(queries), k), -1, dtype=np.int64)
        products = queries @ self.vectors[ids].T
        order = np.argsort(-products, axis=1, kind="stable")[:, :n_found]
        scores[:, :n_found] = np.take_along_axis(products, order, axis=1)
        rows[:, :n_found] = ids[order]
        return scores, rows

"""Exact nearest neighbours among sparse vectors, fast enough for a million names.

The plain product of a query with all rows visits every row that shares an n-gram with it, and two
letters are shared by half of all names. So the columns are split into the rare and the frequent ones.
The product over the rare ones is cheap, and the rest is bounded by Cauchy and Schwarz: it adds at most the
product of the norms of what query and row have in the frequent columns. Only rows that may come among the
best k by that bound are compared in full. Nothing is approximate; with the 813,000 names of MeSH it takes
half the time of the plain product.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, vstack

from ..types import Rows, Scores
from ..util.ragged import offsets_of

_FREQUENT = 0.08  # a column that more rows have is a frequent one
_BLOCK = 64  # queries multiplied at a time: 64 times 50,000 numbers of the rare columns' product
_LIKELY = 2  # this many times k rows are compared in full, for a lower bound of the k-th best score
_SLACK = 1e-5  # of sums of 32-bit numbers


class FoundRows(NamedTuple):
    """The best rows of n queries, ragged, best first: rows and scores of query i are
    ``offsets[i]:offsets[i + 1]``."""

    rows: Rows
    scores: Scores
    offsets: Rows


class SparseRows:
    """Rows of non-negative numbers, searched by inner product.

    Args:
        rare: (rare columns, n): transposed, so that a product walks along its rows.
        frequent: (n, frequent columns).
        is_frequent: (columns,) which of them.
    """

    def __init__(self, rare: csr_matrix, frequent: csr_matrix, is_frequent: NDArray[np.bool_]):
        self._is_frequent = is_frequent
        self._set(rare, frequent)

    def _set(self, rare: csr_matrix, frequent: csr_matrix) -> None:
        self._rare = rare
        self._frequent = frequent
        self._norms = np.sqrt(np.asarray(frequent.multiply(frequent).sum(axis=1))).ravel().astype(np.float32)
        self._by_norm = np.argsort(-self._norms, kind="stable")
        self._falling = -self._norms[self._by_norm]  # searchsorted needs ascending values

    @classmethod
    def of(cls, vectors: csr_matrix) -> "SparseRows":
        """Args:
        vectors: (n, columns) float32, none below 0.
        """
        counts = np.bincount(vectors.indices, minlength=vectors.shape[1])
        is_frequent = counts > max(1.0, _FREQUENT * vectors.shape[0])
        rare, frequent = _split(vectors, is_frequent)
        return cls(rare, frequent, is_frequent)

    def __len__(self) -> int:
        return int(self._frequent.shape[0])

    def add(self, vectors: csr_matrix) -> None:
        """Add rows at the end."""
        rare, frequent = _split(vectors, self._is_frequent)
        self._set(hstack([self._rare, rare], format="csr"), vstack([self._frequent, frequent], format="csr"))

    def search(self, queries: csr_matrix, k: int, usable: NDArray[np.bool_] | None = None) -> FoundRows:
        """Find the rows with the largest inner products.

        Args:
            queries: (n, columns), none below 0.
            k: how many rows each.
            usable: mask over the rows; None = all.

        Returns:
            Without rows that share no column with the query. Equal scores: the lower
            row comes first.
        """
        found: list[tuple[Rows, Scores]] = []
        shares = np.zeros(len(self), dtype=np.float32)  # of one query, filled and emptied again
        for start in range(0, queries.shape[0], _BLOCK):
            block = queries[start : start + _BLOCK].tocsc()
            rare = (block[:, ~self._is_frequent].tocsr() @ self._rare).tocsr()
            frequent = block[:, self._is_frequent].toarray()
            for number, query in enumerate(frequent):
                own = slice(rare.indptr[number], rare.indptr[number + 1])
                found.append(self._best(rare.indices[own], rare.data[own], query, k, usable, shares))
        lengths = np.array([len(rows) for rows, _ in found], dtype=np.int64)
        return FoundRows(
            np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in found)]),
            np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in found)]),
            offsets_of(lengths),
        )

    def _best(
        self,
        rows: NDArray[np.int32],
        products: Scores,
        query: Scores,
        k: int,
        usable: NDArray[np.bool_] | None,
        shares: Scores,
    ) -> tuple[Rows, Scores]:
        if usable is not None:
            kept = usable[rows]
            rows, products = rows[kept], products[kept]
        reach = float(np.linalg.norm(query))
        if reach > 0:
            shares[rows] = products
            floor = 0.0
            if len(rows) >= k:
                # the likely ones, compared in full, bound the k-th best score from below
                likely = rows[np.argpartition(products, max(0, len(rows) - _LIKELY * k))[-_LIKELY * k :]]
                floor = float(np.partition(self._compare(likely, query, shares), -k)[-k]) * (1 - _SLACK)
            near = rows[products + reach * self._norms[rows] >= floor]
            # rows that share frequent columns only: those whose norm is large enough
            n_far = len(self)
            if floor > 0:
                n_far = int(np.searchsorted(self._falling, -floor / reach, side="right"))
            if n_far:
                far = self._by_norm[:n_far]
                near = np.union1d(near, far if usable is None else far[usable[far]])
            full = self._compare(near, query, shares)
            shares[rows] = 0.0
            rows, products = near[full > 0], full[full > 0]
        return best_of(rows.astype(np.int64), products, k)

    def _compare(self, near: Rows, query: Scores, shares: Scores) -> Scores:
        every = len(near) == len(self)
        rest: Scores = (self._frequent if every else self._frequent[near]) @ query
        return shares[near] + rest

    def columns(self) -> dict[str, NDArray[Any]]:
        """What is stored, by name."""
        parts = {"rare": self._rare, "frequent": self._frequent}
        arrays = {
            f"{name}_{field}": getattr(part, field)
            for name, part in parts.items()
            for field in ("data", "indices", "indptr")
        }
        return {**arrays, "is_frequent": self._is_frequent}

    @classmethod
    def from_columns(cls, columns: Mapping[str, NDArray[Any]]) -> "SparseRows":
        """From what ``columns`` gave.

        Raises:
            ValueError: if they do not belong together.
        """
        is_frequent = columns["is_frequent"]
        n_rows, n_frequent = len(columns["frequent_indptr"]) - 1, int(is_frequent.sum())
        shapes = {"rare": (len(is_frequent) - n_frequent, n_rows), "frequent": (n_rows, n_frequent)}
        parts = []
        for name, shape in shapes.items():
            arrays = tuple(columns[f"{name}_{field}"] for field in ("data", "indices", "indptr"))
            parts.append(csr_matrix(arrays, shape=shape))
            parts[-1].check_format(full_check=True)
        return cls(parts[0], parts[1], is_frequent)


def best_of(rows: Rows, scores: Scores, k: int) -> tuple[Rows, Scores]:
    """Those of the k best scores, best first; equal ones by row."""
    if len(rows) > k:
        # all scores equal to the k-th are kept until ties are broken by row
        kept = scores >= np.partition(scores, -k)[-k]
        rows, scores = rows[kept], scores[kept]
    order = np.lexsort((rows, -scores))[:k]
    return rows[order], scores[order]


def _split(vectors: csr_matrix, is_frequent: NDArray[np.bool_]) -> tuple[csr_matrix, csr_matrix]:
    columns = vectors.tocsc()
    return columns[:, ~is_frequent].T.tocsr(), columns[:, is_frequent].tocsr()

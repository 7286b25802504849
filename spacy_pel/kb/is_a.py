"""Broader and narrower entities, by row."""

import numpy as np

from ..types import Rows
from ..util.arrays import Ragged, offsets_of


class Hierarchy:
    """The is-a relations between rows. Even in a cycle, no row is above or below itself.

    Args:
        children, parents: (m,) the rows of each pair.
        n_rows: rows of the knowledge base.
    """

    def __init__(self, children: Rows, parents: Rows, n_rows: int):
        self._parents, self._children = _links(children, parents, n_rows), _links(parents, children, n_rows)

    def above(self, rows: Rows, steps: int | None = None) -> Rows:
        """The rows that are broader than any of these, the nearest first; ``steps`` at most, None = all."""
        return _reached(self._parents, rows, steps)

    def below(self, rows: Rows, steps: int | None = None) -> Rows:
        """The rows that are narrower, likewise."""
        return _reached(self._children, rows, steps)


def _links(sources: Rows, targets: Rows, n_rows: int) -> Ragged:
    """The targets of each row."""
    return Ragged(targets[np.argsort(sources, kind="stable")], offsets_of(np.bincount(sources, minlength=n_rows)))


def _reached(links: Ragged, rows: Rows, steps: int | None) -> Rows:
    is_new = np.ones(len(links), dtype=np.bool_)
    is_new[rows] = False
    levels = [np.zeros(0, dtype=np.int64)]
    while len(rows) and (steps is None or len(levels) <= steps):
        rows = np.unique(links.take(rows).values)
        rows = rows[is_new[rows]]
        is_new[rows] = False
        levels.append(rows)
    return np.concatenate(levels)

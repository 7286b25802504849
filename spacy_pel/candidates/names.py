"""The distinct names of a knowledge base, and the entities of each name."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import Rows, Scores
from ..util import progress
from ..util.arrays import offsets_of, take_pieces

Fold = Callable[[str], str]
_CHUNK = 16_384  # entities read at a time
_WORD = re.compile(r"[^\W_]+")
# Function words. scikit-learn's list would also drop "system", "fire" and "cry", which occur in names of
# concepts.
_STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these "
    "they this to was will with".split()
)


def words_of(name: str) -> list[str]:
    """The runs of letters and digits, stop words left out, unless there are no others: "IT" is a name, too."""
    words = _WORD.findall(name)
    return [word for word in words if word not in _STOP_WORDS] or words


@dataclass
class NameTable:
    """The entities of each name. Names are numbered in the order of the knowledge base, so the number
    breaks ties; the texts are not kept.

    Attributes:
        kb_rows: (p,) rows of the entities of name i at ``offsets[i]:offsets[i + 1]``,
            ascending; each name has one at least.
        offsets: (n + 1,).
        live: (p,) False = the entity was updated or retired since.
    """

    kb_rows: NDArray[np.int32]
    offsets: NDArray[np.int64]
    live: NDArray[np.bool_]

    @classmethod
    def build(
        cls, kb: KnowledgeBase, kb_rows: Rows, fold: Fold, *, show_progress: bool = False
    ) -> tuple["NameTable", list[str]]:
        """Read the names of entities.

        Args:
            kb: has the names.
            kb_rows: which entities, ascending.
            fold: the form in which names are compared; names that it makes empty are left out.
            show_progress: show a progress bar.

        Returns:
            The table, and the folded names by their numbers.
        """
        numbers: dict[str, int] = {}
        of_names: list[int] = []
        of_rows: list[int] = []
        starts = range(0, len(kb_rows), _CHUNK)
        for start in progress(starts, description="Reading names (16k entities)", show=show_progress):
            chunk = kb_rows[start : start + _CHUNK]
            for row, names in zip(chunk.tolist(), kb.names_at(chunk), strict=True):
                for name in dict.fromkeys(map(fold, names)):
                    if name:
                        of_names.append(numbers.setdefault(name, len(numbers)))
                        of_rows.append(row)
        name_of = np.array(of_names, dtype=np.int64)
        order = np.argsort(name_of, kind="stable")  # stable: rows stay ascending within a name
        table = cls(
            np.array(of_rows, dtype=np.int32)[order],
            offsets_of(np.bincount(name_of, minlength=len(numbers))),
            np.ones(len(name_of), dtype=np.bool_),
        )
        return table, list(numbers)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        """The knowledge base must have at least this many rows."""
        return int(self.kb_rows.max()) + 1 if len(self.kb_rows) else 0

    def usable(self, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        """Which names lead to an entity?

        Args:
            allowed: mask over the rows of the knowledge base; None = all.

        Returns:
            Mask over the names; None = all of them.
        """
        pairs = self.live if allowed is None else self.live & allowed[self.kb_rows]
        if pairs.all() or not len(self):
            return None
        return np.logical_or.reduceat(pairs, self.offsets[:-1])

    def entities(self, names: Rows, scores: Scores, allowed: NDArray[np.bool_] | None) -> tuple[Rows, Scores]:
        """Replace ranked names by their entities.

        Args:
            names: (m,) numbers of the names found for a text.
            scores: (m,) of the names.
            allowed: mask over the rows of the knowledge base; None = all.

        Returns:
            Rows of the knowledge base in the same order, with the scores of their names; an entity may occur several
            times.
        """
        kb_rows = take_pieces(self.kb_rows, self.offsets, names).astype(np.int64)
        usable = take_pieces(self.live, self.offsets, names)
        if allowed is not None:
            usable &= allowed[kb_rows]
        return kb_rows[usable], np.repeat(scores, self.offsets[names + 1] - self.offsets[names])[usable]

    def change(self, kb: KnowledgeBase, kb_rows: Rows, fold: Fold) -> list[str]:
        """Update after a change of the knowledge base.

        Args:
            kb_rows: rows that were added, updated or retired.
            fold: as for ``build``.

        Returns:
            The names to append, in their order; a name may be there already.
        """
        kb_rows = np.unique(kb_rows)
        self.live = self.live & ~np.isin(self.kb_rows, kb_rows)
        new, names = NameTable.build(kb, kb_rows[np.isin(kb_rows, kb.live_rows)], fold)
        self.offsets = np.concatenate([self.offsets, self.offsets[-1] + new.offsets[1:]])
        self.kb_rows = np.concatenate([self.kb_rows, new.kb_rows])
        self.live = np.concatenate([self.live, new.live])
        return names

"""Generators that compare names with surface forms: the table of names that most of them search, and the search. An
entity may be found by several of its names, so they search until k distinct entities are found."""

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import CandidateTable, Mask, Masks, MentionInText, RankedRows, Rows, Scores
from ..util import normalize_alias, progress
from ..util.arrays import first_places, offsets_of, take_pieces
from .evidence import candidate_table
from .generator_base import Built, GeneratorBase

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


class Found(NamedTuple):
    """The entities of the best matches of a text, best first, with repeats.

    Attributes:
        kb_rows: (m,).
        scores: (m,).
        more: whether there may be more.
    """

    kb_rows: Rows
    scores: Scores
    more: bool = False


Search = Callable[[Sequence[str], int, Mask], Sequence[Found]]  # (texts, k, mask) -> the best k matches of each text
_FIRST, _MORE = 2, 4  # matches per requested entity in the first search, and the factor for the next one


class NameGenerator(GeneratorBase[Built]):
    """A generator that searches names by the surface form of a mention."""

    fold: Callable[[str], str] = staticmethod(normalize_alias)  # turns a surface form into what is searched

    @abstractmethod
    def searcher(self, kb: KnowledgeBase) -> Search:
        """The search among the names of a knowledge base."""

    def find_candidates(
        self, kb: KnowledgeBase, mentions: Sequence[MentionInText], *, allowed: Masks = None, top_k: int = 64
    ) -> CandidateTable:
        """Find entities by their best name; its score is "name"."""
        return candidate_table(kb, self.rank(kb, mentions, allowed=allowed, top_k=top_k), mentions)

    def rank(
        self, kb: KnowledgeBase, mentions: Sequence[MentionInText], *, allowed: Masks = None, top_k: int = 64
    ) -> RankedRows:
        """The same entities in the order in which they were found, with their scores alone. Each distinct surface
        form is searched once, a blank one finds nothing, and entities that are retired or not allowed are never
        found.
        """
        search = self.searcher(kb)
        masks: Sequence[Mask] = [None] * len(mentions) if allowed is None else allowed
        live = kb.live if len(kb) < kb.n_rows else None
        groups: dict[int, dict[str, list[int]]] = {}  # mentions by mask, by form
        for number, (mention, mask) in enumerate(zip(mentions, masks, strict=True)):
            if normalize_alias(mention.surface):
                groups.setdefault(id(mask), {}).setdefault(type(self).fold(mention.surface), []).append(number)
        results = [(np.zeros(0, np.int64), np.zeros(0, np.float32))] * len(mentions)
        for of_form in groups.values():
            mask = masks[next(iter(of_form.values()))[0]]
            usable = live if mask is None else mask if live is None else mask & live
            waiting, k = list(of_form), _FIRST * top_k
            while waiting:
                asked, waiting = waiting, []
                for form, found in zip(asked, search(asked, k, usable), strict=True):
                    best = first_places(found.kb_rows, top_k)
                    if found.more and len(best) < top_k:
                        waiting.append(form)
                    for number in of_form[form]:
                        results[number] = (found.kb_rows[best], found.scores[best])
                k *= _MORE
        return RankedRows.of(results)

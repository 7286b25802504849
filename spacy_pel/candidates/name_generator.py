"""Generators that compare names with surface forms. An entity may be found by several of its names, so they search
until k distinct entities are found."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..kb import KnowledgeBase
from ..types import CandidateTable, Mask, MentionInText, RankedRows, Rows, Scores
from ..util import normalize_alias
from ..util.arrays import first_places
from .evidence.evidence import candidate_table
from .generator_base import Built, GeneratorBase


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
        self,
        kb: KnowledgeBase,
        mentions: Sequence[MentionInText],
        *,
        allowed: Sequence[Mask] | None = None,
        top_k: int = 64,
    ) -> CandidateTable:
        """Find entities by their best name; its score is "name"."""
        return candidate_table(kb, self.rank(kb, mentions, allowed=allowed, top_k=top_k), mentions)

    def rank(
        self,
        kb: KnowledgeBase,
        mentions: Sequence[MentionInText],
        *,
        allowed: Sequence[Mask] | None = None,
        top_k: int = 64,
    ) -> RankedRows:
        """The same entities in the order in which they were found, with their scores alone. Each distinct surface
        form is searched once, a blank one finds nothing, and entities that are retired or not allowed are never
        found.
        """
        search = self.searcher(kb)
        masks: Sequence[Mask] = [None] * len(mentions) if allowed is None else allowed
        live: Mask = None
        if len(kb) < kb.n_rows:
            live = np.zeros(kb.n_rows, dtype=np.bool_)
            live[kb.live_rows] = True
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

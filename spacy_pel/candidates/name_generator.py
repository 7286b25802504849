"""Generators that compare names with surface forms. An entity may be found by several of its names, so they search
until k distinct entities are found."""

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import CandidateTable, MentionInText, RankedRows
from ..util import normalize_alias
from ..util.ragged import offsets_of, owners, places_in_pieces
from .evidence.evidence import candidate_table
from .generator_base import Built, GeneratorBase, Mask

# (texts, k, mask) -> the entities of the best k matches of each text, best first, with repeats; and for each
# text, whether there may be more
Search = Callable[[Sequence[str], int, Mask], tuple[RankedRows, NDArray[np.bool_]]]
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
                matches, more = search(waiting, k, usable)
                ranked = first_distinct(matches, kb.n_rows, top_k)
                short = more & (np.diff(ranked.offsets) < top_k)
                for i in np.flatnonzero(~short).tolist():
                    piece = slice(ranked.offsets[i], ranked.offsets[i + 1])
                    for number in of_form[waiting[i]]:
                        results[number] = (ranked.kb_rows[piece], ranked.scores[piece])
                waiting, k = [waiting[i] for i in np.flatnonzero(short).tolist()], k * _MORE
        return RankedRows(
            np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in results)]),
            np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in results)]).astype(np.float32),
            offsets_of(np.array([len(rows) for rows, _ in results], dtype=np.int64)),
        )


def first_distinct(matches: RankedRows, n_rows: int, top_k: int) -> RankedRows:
    """The first match of each entity, at most ``top_k`` per mention."""
    keys = owners(matches.offsets) * n_rows + matches.kb_rows
    firsts = np.sort(np.unique(keys, return_index=True)[1])
    mentions = owners(matches.offsets)[firsts]
    counts = np.bincount(mentions, minlength=len(matches.offsets) - 1)
    firsts = firsts[places_in_pieces(offsets_of(counts)) < top_k]
    return RankedRows(matches.kb_rows[firsts], matches.scores[firsts], offsets_of(np.minimum(counts, top_k)))

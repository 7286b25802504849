"""Generators that compare names with surface forms. An entity may be found by several of its names, so they search
until k distinct entities are found."""

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..types import CandidateTable, MentionInText, RankedRows, Rows
from ..util import normalize_alias
from ..util.ragged import offsets_of, owners, places_in_pieces, take_pieces
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
        """The same entities with their scores alone."""
        search, fold = self.searcher(kb), type(self).fold
        return find_entities(search, kb, mentions, fold=fold, allowed=allowed, top_k=top_k)


def find_entities(
    search: Search,
    kb: KnowledgeBase,
    mentions: Sequence[MentionInText],
    *,
    fold: Callable[[str], str],
    allowed: Sequence[Mask] | None,
    top_k: int,
) -> RankedRows:
    """Search for mentions by their surface forms. Each distinct form is searched once, a blank one finds
    nothing, and entities that are retired or not allowed are never found.

    Args:
        search: returns the best matches.
        kb: the entities.
        mentions: the mentions.
        fold: turns a surface form into the input of ``search``.
        allowed: of each mention.
        top_k: number of entities per mention.

    Returns:
        Distinct entities in the order in which they were found.

    Raises:
        PelError: if ``top_k`` is below 1.
    """
    if top_k < 1:
        raise PelError(Errors.E440.format(top_k=top_k))
    texts = [fold(mention.surface) if normalize_alias(mention.surface) else "" for mention in mentions]
    masks: Sequence[Mask] = [None] * len(texts) if allowed is None else allowed
    members: dict[int, dict[str, list[int]]] = {}  # by mask, by text
    for number, (text, mask) in enumerate(zip(texts, masks, strict=True)):
        if text:
            members.setdefault(id(mask), {}).setdefault(text, []).append(number)
    nothing = RankedRows(np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(1, np.int64))
    pieces = [nothing]
    piece_of = np.zeros(len(texts), dtype=np.int64)  # which text, over all groups; 0 = none
    live: Mask = None
    if len(kb) < kb.n_rows:
        live = np.zeros(kb.n_rows, dtype=np.bool_)
        live[kb.live_rows] = True
    n_texts = 1
    for by_text in members.values():
        mask = masks[next(iter(by_text.values()))[0]]
        usable = live if mask is None else mask if live is None else mask & live
        pieces.append(_search_until_enough(search, list(by_text), usable, kb.n_rows, top_k))
        for numbers in by_text.values():
            piece_of[numbers] = n_texts
            n_texts += 1
    counts = np.concatenate([[0], *(np.diff(piece.offsets) for piece in pieces[1:])]).astype(np.int64)
    offsets = offsets_of(counts)
    return RankedRows(
        take_pieces(np.concatenate([piece.kb_rows for piece in pieces]), offsets, piece_of),
        take_pieces(np.concatenate([piece.scores for piece in pieces]), offsets, piece_of),
        offsets_of(counts[piece_of]),
    )


def first_distinct(found: RankedRows, n_rows: int, top_k: int) -> RankedRows:
    """The first match of each entity, at most ``top_k`` per mention."""
    keys = owners(found.offsets) * n_rows + found.kb_rows
    firsts = np.sort(np.unique(keys, return_index=True)[1])
    mentions = owners(found.offsets)[firsts]
    counts = np.bincount(mentions, minlength=len(found.offsets) - 1)
    kept = firsts[places_in_pieces(offsets_of(counts)) < top_k]
    return RankedRows(found.kb_rows[kept], found.scores[kept], offsets_of(np.minimum(counts, top_k)))


def _search_until_enough(search: Search, texts: list[str], mask: Mask, n_rows: int, top_k: int) -> RankedRows:
    done: list[tuple[Rows, NDArray[np.float32]] | None] = [None] * len(texts)
    waiting, k = np.arange(len(texts)), _FIRST * top_k
    while len(waiting):
        found, more = search([texts[number] for number in waiting.tolist()], k, mask)
        ranked = first_distinct(found, n_rows, top_k)
        short = more & (np.diff(ranked.offsets) < top_k)
        for i in np.flatnonzero(~short).tolist():
            piece = slice(ranked.offsets[i], ranked.offsets[i + 1])
            done[int(waiting[i])] = (ranked.kb_rows[piece], ranked.scores[piece])
        waiting, k = waiting[short], k * _MORE
    complete = [pair for pair in done if pair is not None]
    return RankedRows(
        np.concatenate([rows for rows, _ in complete]),
        np.concatenate([scores for _, scores in complete]).astype(np.float32),
        offsets_of(np.array([len(rows) for rows, _ in complete], dtype=np.int64)),
    )

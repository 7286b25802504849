"""Where candidates come from: near rows, the alias map, and what was annotated before.

Each source gives pairs of a mention and an entity with a number, as flat arrays.
"""

from typing import Dict, List, NamedTuple, Optional, Protocol, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from ..index.priors import AliasPriors
from ..kb import KnowledgeBase
from ..types import Rows, Scores, Vectors
from ..util.ragged import offsets_of, owners, segment_softmax, take_pieces

Mask = Optional[NDArray[np.bool_]]  # over the rows of the knowledge base; None = all
VOTE_TEMPERATURE = 0.05


class Found(NamedTuple):
    """Pairs of mention and entity with what a source says about them, by ascending mention."""

    mentions: Rows
    kb_rows: Rows
    values: NDArray[np.float64]


class RowSource(Protocol):
    """What is needed of an EntityIndex."""

    @property
    def priors(self) -> AliasPriors: ...

    def search_entities(
        self, vectors: Vectors, k: int, allowed: Mask, kinds: Sequence[str]
    ) -> Tuple[Scores, Rows]: ...  # (n, k) scores and KB rows, -1 = none


def nearest_rows(
    source: RowSource, vectors: Vectors, masks: Sequence[Mask], k: int, kinds: Sequence[str]
) -> Found:
    """RETURNS (Found): the k nearest rows of some kinds with their cosines; an entity may come
    several times."""
    scores = np.full((len(vectors), k), -np.inf, dtype=np.float32)
    kb_rows = np.full((len(vectors), k), -1, dtype=np.int64)
    for mask, group in _groups(masks):
        scores[group], kb_rows[group] = source.search_entities(vectors[group], k, mask, kinds)
    mentions, _ = np.nonzero(kb_rows >= 0)
    return Found(mentions, kb_rows[kb_rows >= 0], scores[kb_rows >= 0].astype(np.float64))


def votes(mention_rows: Found) -> NDArray[np.float64]:
    """RETURNS (NDArray[float64]): each row's share of its mention's softmax over cosines."""
    lengths = np.bincount(mention_rows.mentions)
    return segment_softmax(mention_rows.values / VOTE_TEMPERATURE, offsets_of(lengths))


def exact_matches(kb: KnowledgeBase, surfaces: Sequence[str], masks: Sequence[Mask]) -> Found:
    """RETURNS (Found): entities that have the normalised surface among their names; value 1."""
    distinct, places = _distinct(surfaces)
    rows = kb.rows_of_aliases(distinct)
    lengths = np.array([len(piece) for piece in rows], dtype=np.int64)
    flat = np.concatenate([np.empty(0, np.int64), *rows])
    kb_rows = take_pieces(flat, offsets_of(lengths), places)
    mentions = np.repeat(np.arange(len(surfaces)), lengths[places])
    return _usable(Found(mentions, kb_rows, np.ones(len(kb_rows))), kb, masks)


def named_before(
    kb: KnowledgeBase, priors: AliasPriors, surfaces: Sequence[str], masks: Sequence[Mask]
) -> Tuple[Found, NDArray[np.float64]]:
    """RETURNS (Tuple[Found, NDArray]): P(entity | surface) of entities that the surface named in
    annotated text, and for each surface 1 if it was seen there, else 0."""
    kb_rows, counts, offsets = priors.counts(surfaces)
    mentions = owners(offsets)
    totals = np.bincount(mentions, weights=counts, minlength=len(surfaces))
    found = Found(mentions, kb_rows, counts / totals[mentions])
    return _usable(found, kb, masks), (totals > 0).astype(np.float64)


def _usable(found: Found, kb: KnowledgeBase, masks: Sequence[Mask]) -> Found:
    """Drop entities that are retired or not allowed for their mention."""
    keep = np.ones(len(found.mentions), dtype=np.bool_)
    if len(kb) < kb.n_rows:
        keep = np.isin(found.kb_rows, kb.live_rows)
    if any(mask is not None for mask in masks):
        group_of = np.empty(len(masks), dtype=np.int64)
        groups = _groups(masks)
        for number, (_, group) in enumerate(groups):
            group_of[group] = number
        for number, (mask, _) in enumerate(groups):
            if mask is not None:
                mine = group_of[found.mentions] == number
                keep[mine] &= mask[found.kb_rows[mine]]
    return Found(found.mentions[keep], found.kb_rows[keep], found.values[keep])


def _groups(masks: Sequence[Mask]) -> List[Tuple[Mask, Rows]]:
    """RETURNS (List[Tuple[Mask, Rows]]): each distinct mask object and the mentions that have it."""
    members: Dict[int, List[int]] = {}
    for mention, mask in enumerate(masks):
        members.setdefault(id(mask), []).append(mention)
    return [(masks[group[0]], np.array(group)) for group in members.values()]


def _distinct(surfaces: Sequence[str]) -> Tuple[List[str], Rows]:
    """RETURNS (Tuple[List[str], Rows]): the distinct strings, and which of them each surface is."""
    places: Dict[str, int] = {}
    which = [places.setdefault(surface, len(places)) for surface in surfaces]
    return list(places), np.array(which, dtype=np.int64)

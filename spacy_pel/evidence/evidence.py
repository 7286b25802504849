"""Gathers, per mention, the candidate entities and what speaks for each of them."""

from typing import Any, Dict, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from ..index.row_table import NAME_KINDS
from ..kb import KnowledgeBase
from ..types import CandidateTable, Vectors
from ..util.ragged import offsets_of, segment_rank
from .evidence_sources import Found, Mask, RowSource, exact_matches, named_before, nearest_rows, votes
from .spelling import spelling

FEATURES = (
    "name",  # best cosine over card and alias rows; the lowest one found for the mention if it has none
    "mention",  # the same over the rows of annotated mentions; 0 if none was found for the mention
    "vote",  # its share of the mention rows found, weighed by a softmax of their cosines
    "exact",  # 1 if the normalised surface is a name of the entity in the KB
    "prior",  # P(entity | surface) in annotated text; 0 if never seen so
    "seen",  # 1 if the surface was seen in annotated text at all
    "popularity",  # log(1 + how often annotated text named the entity)
    "edit",  # spelling: Indel similarity of the surface to the entity's nearest name, 0..1
    "partial",  # the same for the best stretch of the longer of the two strings
)
_BLOCK = 4096  # mentions at a time


def gather_evidence(
    kb: KnowledgeBase,
    source: RowSource,
    vectors: Vectors,
    surfaces: Sequence[str],
    *,
    allowed: Optional[Sequence[Mask]] = None,
    row_k: int = 128,
    top_k: int = 64,
) -> CandidateTable:
    """Find candidates for mentions and compute their FEATURES.

    Candidates come from three sources: the nearest rows of the index (names and mentions
    are searched apart, so that the mentions of one frequent entity cannot crowd out the
    names), the KB's alias map, and the entities that the surface named in annotated text.

    kb (KnowledgeBase): the knowledge base of the index.
    source (RowSource): the index.
    vectors (Vectors): (n, width), the mentions.
    surfaces (Sequence[str]): their texts.
    allowed (Optional[Sequence[Mask]]): for each mention a mask over the KB's rows, or None. What
        it excludes is no candidate, whatever the source. Mentions that share a mask object
        are searched together.
    row_k (int): rows to find per mention, among names and among mentions each.
    top_k (int): candidates to keep per mention: those that the surface names first (exact
        match or prior), then those with the best row.
    RETURNS (CandidateTable): distinct entities per mention, in the order just said.
    """
    masks = [None] * len(surfaces) if allowed is None else list(allowed)
    tables = []
    for start in range(0, max(len(surfaces), 1), _BLOCK):
        block = slice(start, start + _BLOCK)
        table = _gather_block(kb, source, vectors[block], surfaces[block], masks[block], row_k)
        table = _keep_best(table, top_k)
        table.features.update(spelling(kb, surfaces[block], table))
        tables.append(table)
    return CandidateTable(
        kb_rows=np.concatenate([table.kb_rows for table in tables]),
        offsets=offsets_of(np.concatenate([np.diff(table.offsets) for table in tables])),
        features={name: np.concatenate([table.features[name] for table in tables]) for name in FEATURES},
        vectors=vectors,
    )


def _gather_block(
    kb: KnowledgeBase,
    source: RowSource,
    vectors: Vectors,
    surfaces: Sequence[str],
    masks: Sequence[Mask],
    row_k: int,
) -> CandidateTable:
    name_rows = nearest_rows(source, vectors, masks, row_k, NAME_KINDS)
    mention_rows = nearest_rows(source, vectors, masks, row_k, ("mention",))
    exact = exact_matches(kb, surfaces, masks)
    prior, seen = named_before(kb, source.priors, surfaces, masks)

    # each pair of mention and entity once; ``places`` says which pair a find belongs to
    finds = (name_rows, mention_rows, exact, prior)
    keys = np.concatenate([found.mentions * kb.n_rows + found.kb_rows for found in finds])
    pairs, places = np.unique(keys, return_inverse=True)
    mentions, kb_rows = np.divmod(pairs, max(kb.n_rows, 1))
    of_names, of_mentions, of_exact, of_prior = np.split(
        places, np.cumsum([len(found.mentions) for found in finds])[:-1]
    )

    def filled(place: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        column = np.zeros(len(pairs))
        column[place] = values
        return column

    features: Dict[str, NDArray[Any]] = {
        "name": best_row(name_rows, of_names, mentions),
        "mention": best_row(mention_rows, of_mentions, mentions),
        "vote": np.bincount(of_mentions, weights=votes(mention_rows), minlength=len(pairs)),
        "exact": filled(of_exact, exact.values),
        "prior": filled(of_prior, prior.values),
        "seen": seen[mentions],
        "popularity": np.log1p(source.priors.total(kb_rows)),
    }
    return CandidateTable(
        kb_rows=kb_rows,
        offsets=offsets_of(np.bincount(mentions, minlength=len(surfaces))),
        features={name: values.astype(np.float32) for name, values in features.items()},
    )


def best_row(found: Found, places: NDArray[np.int64], mentions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The best value of each pair; where a pair has none, the lowest found for its mention: it cannot be
    better than that. Values may be negative.

    found (Found): pairs of mention and entity with their values; a pair may come several times.
    places (NDArray[int64]): which of the p pairs each of them is.
    mentions (NDArray[int64]): (p,), ascending.
    RETURNS (NDArray[float64]): (p,); 0 for the pairs of a mention for which nothing was found.
    """
    best = np.full(len(mentions), -np.inf)
    np.maximum.at(best, places, found.values)
    lowest = np.full(int(mentions[-1]) + 1 if len(mentions) else 0, np.inf)
    np.minimum.at(lowest, found.mentions, found.values)
    lowest[np.isinf(lowest)] = 0.0
    return np.where(np.isinf(best), lowest[mentions], best)


def _keep_best(table: CandidateTable, top_k: int) -> CandidateTable:
    features = table.features
    named = (features["exact"] > 0) | (features["prior"] > 0)
    best = np.where(features["vote"] > 0, np.maximum(features["name"], features["mention"]), features["name"])
    span = 1.0 + float(np.ptp(best)) if len(best) else 1.0  # cosines span 2, dot products any range
    rank = segment_rank(best + span * named, table.offsets)
    starts = np.repeat(table.offsets[:-1], np.diff(table.offsets))
    order = np.empty(len(rank), dtype=np.int64)
    order[starts + rank] = np.arange(len(rank))
    order = order[(rank < top_k)[order]]
    return CandidateTable(
        kb_rows=table.kb_rows[order],
        offsets=offsets_of(np.minimum(np.diff(table.offsets), top_k)),
        features={name: values[order] for name, values in features.items()},
    )

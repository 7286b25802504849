"""The nearest entities of mentions by an encoder alone: in one stage, or in two for token vectors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..encoders.bi_encoder import BiEncoder
from ..encoders.rescoring import rescore
from ..index import EntityIndex
from ..kb import KnowledgeBase
from ..types import Encoder, MentionInText, RankedRows
from ..util.ragged import offsets_of, places_in_pieces

FIRST_STAGE = 128
_ROWS_PER_ENTITY = 8  # rows fetched for a candidate: several rows may lead to one entity


def nearest_entities(
    kb: KnowledgeBase,
    index: EntityIndex,
    encoder: Encoder,
    mentions: Sequence[MentionInText],
    *,
    top_k: int,
    first_stage: int = FIRST_STAGE,
    allowed: NDArray[np.bool_] | None = None,
) -> RankedRows:
    """Find distinct entities by the vectors of the index, without names and priors. Where the encoder's
    similarity compares tokens, more entities are found by pooled vectors and reranked by their tokens.

    Args:
        kb: the entities.
        index: made with the encoder.
        encoder: reads the mentions.
        mentions: (n,).
        top_k: maximum number of entities per mention.
        first_stage: rows found in the first stage where the similarity compares tokens; at least top_k.
            It caps recall: an entity that the pooled vectors do not find among these is never rescored.
        allowed: mask over the rows of the KB; None = all.

    Returns:
        Best first.
    """
    in_two = isinstance(encoder, BiEncoder) and encoder.similarity.token_level
    wanted = max(top_k, first_stage) if in_two else top_k
    several = _ROWS_PER_ENTITY if len(index) > len(kb) else 1
    scores, rows = index.search_entities(encoder.encode_mentions(mentions), several * wanted, allowed)
    best: list[dict[int, float]] = []
    for own, found in zip(scores, rows, strict=True):
        entities: dict[int, float] = {}
        for row, score in zip(found[found >= 0].tolist(), own.tolist(), strict=False):
            entities.setdefault(row, score)
        best.append(dict(list(entities.items())[:wanted]))
    kb_rows = np.array([row for entities in best for row in entities], dtype=np.int64)
    all_scores = np.array([score for entities in best for score in entities.values()], dtype=np.float32)
    ranked = RankedRows(kb_rows, all_scores, offsets_of(np.array(list(map(len, best)), dtype=np.int64)))
    if not isinstance(encoder, BiEncoder) or not in_two:
        return ranked
    return _first(rescore(encoder, kb, mentions, ranked), top_k)


def _first(ranked: RankedRows, k: int) -> RankedRows:
    """At most the first k of each mention."""
    kept = places_in_pieces(ranked.offsets) < k
    lengths = np.minimum(np.diff(ranked.offsets), k)
    return RankedRows(ranked.kb_rows[kept], ranked.scores[kept], offsets_of(lengths))

"""The nearest entities of mentions by an encoder alone: in one stage, or in two for token vectors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...encoders.bi_encoder import BiEncoder
from ...index import EntityIndex
from ...kb import KnowledgeBase
from ...types import Encoder, MentionInText, RankedRows
from ...util.arrays import first_places
from .rescoring import rescore

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
    firsts = [first_places(found[found >= 0], wanted) for found in rows]
    ranked = RankedRows.of([(rows[i, first], scores[i, first]) for i, first in enumerate(firsts)])
    if not isinstance(encoder, BiEncoder) or not in_two:
        return ranked
    reranked = rescore(encoder, kb, mentions, ranked)
    return RankedRows(reranked.kb_rows[:, :top_k], reranked.scores[:, :top_k])

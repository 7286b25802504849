"""The nearest entities of mentions by an encoder alone: in one stage, or in two for token vectors, where candidates
found by pooled vectors are rescored."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...encoders.bi_encoder import BiEncoder
from ...encoders.representations import pair_scores
from ...index import EntityIndex
from ...kb import KnowledgeBase
from ...types import Encoder, MentionInText, RankedRows
from ...util.arrays import best_first, first_places

_ENTITIES = 2048  # encoded at a time: 75 MB of token vectors at 24 tokens and width 384


def rescore(
    encoder: BiEncoder, kb: KnowledgeBase, mentions: Sequence[MentionInText], candidates: RankedRows
) -> RankedRows:
    """Rerank candidates by the encoder's similarity, where an entity is represented by its card. Each mention
    and each distinct entity is encoded once. Vectors of entities are not kept, so memory does not grow with
    the knowledge base.

    Args:
        encoder: with weights; made for a similarity of tokens, such as SumOfMax.
        kb: the entities.
        mentions: (n,).
        candidates: of the mentions, of the first stage.

    Returns:
        The same entities, best first.
    """
    of_mentions = encoder.represent_mentions(mentions)
    device = next(encoder.towers.parameters()).device
    filled = candidates.kb_rows >= 0
    owner, _ = np.nonzero(filled)
    distinct, which = np.unique(candidates.kb_rows[filled], return_inverse=True)
    pairs = np.argsort(which, kind="stable")  # of one entity, those of neighbouring mentions
    ends = np.searchsorted(which[pairs], np.arange(len(distinct) + 1))
    scores = np.empty(len(which), dtype=np.float32)
    for start in range(0, len(distinct), _ENTITIES):
        stop = min(start + _ENTITIES, len(distinct))
        of_entities = encoder.represent_entities([kb.entity_at(int(row)) for row in distinct[start:stop]])
        chosen = np.sort(pairs[ends[start] : ends[stop]])
        scores[chosen] = pair_scores(
            encoder.similarity, of_mentions, of_entities, owner[chosen], which[chosen] - start, device=device
        )
    table = np.full(filled.shape, -np.inf, dtype=np.float32)
    table[filled] = scores
    order = best_first(table)
    return RankedRows(np.take_along_axis(candidates.kb_rows, order, 1), np.take_along_axis(table, order, 1))


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

"""The second stage of retrieval: candidates found by pooled vectors are rescored by token vectors."""

from collections.abc import Sequence

import numpy as np

from ...encoders.bi_encoder import BiEncoder
from ...encoders.representations import pair_scores
from ...kb import KnowledgeBase
from ...types import MentionInText, RankedRows
from ...util.arrays import best_first

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

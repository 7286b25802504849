"""The second stage of retrieval: what pooled vectors found is ordered by the tokens."""

from typing import Sequence

import numpy as np

from ..kb import KnowledgeBase
from ..types import MentionInText, RankedRows
from ..util import progress
from ..util.ragged import owners
from .bi_encoder import BiEncoder
from .representations import pair_scores

_ENTITIES = 2048  # encoded at a time: 75 MB of token vectors at 24 tokens and width 384


def rescore(
    encoder: BiEncoder,
    kb: KnowledgeBase,
    mentions: Sequence[MentionInText],
    found: RankedRows,
    *,
    show_progress: bool = False,
) -> RankedRows:
    """Score candidates by the encoder's similarity and put them in its order. An entity is represented by
    its card. Each mention and each distinct entity is encoded once, and entities are forgotten again:
    memory does not grow with the knowledge base.

    encoder (BiEncoder): with weights; made for a similarity of tokens, such as SumOfMax.
    kb (KnowledgeBase): the entities.
    mentions (Sequence[MentionInText]): (n,).
    found (RankedRows): candidates of the mentions, of the first stage.
    RETURNS (RankedRows): the same entities, best first.
    """
    ours = encoder.represent_mentions(mentions, show_progress=show_progress)
    device = next(encoder.towers.parameters()).device
    owner = owners(found.offsets)
    distinct, places = np.unique(found.kb_rows, return_inverse=True)
    pairs = np.argsort(places, kind="stable")  # of one entity, those of neighbouring mentions
    ends = np.searchsorted(places[pairs], np.arange(len(distinct) + 1))
    scores = np.empty(len(found.kb_rows), dtype=np.float32)
    starts = range(0, len(distinct), _ENTITIES)
    for start in progress(starts, description="Rescoring", show=show_progress):
        stop = min(start + _ENTITIES, len(distinct))
        theirs = encoder.represent_entities([kb.entity_at(int(row)) for row in distinct[start:stop]])
        mine = np.sort(pairs[ends[start] : ends[stop]])
        scores[mine] = pair_scores(
            encoder.similarity, ours, theirs, owner[mine], places[mine] - start, device=device
        )
    order = np.lexsort((-scores, owner))
    return RankedRows(found.kb_rows[order], scores[order], found.offsets)

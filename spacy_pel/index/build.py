"""Filling an index: a sample to learn codes from, then every row, chunk by chunk."""

from typing import Iterable, List, Optional, Sequence, Tuple

import numpy as np

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..types import Document, Encoder, VectorIndex, Vectors
from .embed import embed_entities, embed_mentions
from .priors import AliasPriors
from .row_table import KINDS, RowTable
from .rows_of_kb import GoldMentions, sample_rows

_SAMPLE = 4096  # entities, and mentions, that codes are learned from


def fill_index(
    kb: KnowledgeBase,
    encoder: Encoder,
    index: VectorIndex,
    *,
    kinds: Sequence[str],
    documents: Iterable[Document],
    max_mentions_per_entity: Optional[int],
    show_progress: bool,
) -> Tuple[RowTable, AliasPriors]:
    """Embed entities and mentions into a vector index; see ``EntityIndex.build``.

    RETURNS (Tuple[RowTable, AliasPriors]): what the rows stand for, and the counts of surfaces.
    RAISES (PelError): if the KB is empty, a kind is unknown or there would be no row.
    """
    if not kinds or not set(kinds) <= set(KINDS):
        raise PelError(Errors.E405.format(known=", ".join(KINDS), came=list(kinds)))
    if len(kb) == 0:
        raise PelError(Errors.E406)
    gold = GoldMentions.read(kb, documents)
    priors = AliasPriors.build((m.surface for m in gold.mentions), gold.kb_rows)
    gold = gold.capped(max_mentions_per_entity) if "mention" in kinds else gold.sampled(0)
    index.train(_sample(kb, encoder, index, kinds, gold))
    rows = RowTable.empty()
    for kind, kb_rows, vectors in embed_entities(
        kb, encoder, kb.live_rows, kinds, show_progress=show_progress
    ):
        index.add(vectors)
        rows.append(kb_rows, kind)
    for kind, kb_rows, vectors in embed_mentions(encoder, gold, show_progress=show_progress):
        index.add(vectors)
        rows.append(kb_rows, kind)
    if len(rows) == 0:
        raise PelError(Errors.E407.format(n_documents=gold.n_documents))
    return rows, priors


def _sample(
    kb: KnowledgeBase, encoder: Encoder, index: VectorIndex, kinds: Sequence[str], gold: GoldMentions
) -> Vectors:
    parts: List[Vectors] = [np.empty((0, encoder.width), dtype=np.float32)]
    if index.needs_training:
        entities = embed_entities(kb, encoder, sample_rows(kb.live_rows, _SAMPLE), kinds)
        mentions = embed_mentions(encoder, gold.sampled(_SAMPLE))
        parts += [vectors for chunks in (entities, mentions) for _, _, vectors in chunks]
    return np.concatenate(parts)

"""The same index with other codes: embed once at full precision, then compress."""

import numpy as np

from ..errors import Errors, PelError
from ..types import Rows, VectorIndex
from .entity_index import EntityIndex
from .faiss_ivf import FaissIVF
from .faiss_rows import BLOCK, FaissRows
from .row_table import RowTable

_SAMPLE = 32_768  # rows that codes and rotations are learned from


def recode(index: EntityIndex, into: VectorIndex) -> EntityIndex:
    """Copy the live rows of an index into another kind of vector index; nothing is embedded.

    Args:
        index: best with fp32 or fp16 codes: lost precision cannot be recovered.
        into: e.g. FaissFlat(codes="int8", pca=64); its existing rows are dropped. A FaissIVF
            with codes None takes over the codes as they are.

    Returns:
        With the same entities, kinds, priors and topics.

    Raises:
        PelError: if the index has no live row.
    """
    table, live = index.rows, np.flatnonzero(index.rows.live)
    if not len(live):
        raise PelError(Errors.E407.format(n_documents=0))
    if not (
        isinstance(into, FaissIVF) and isinstance(index.vectors, FaissRows) and into.take_rows(index.vectors, live)
    ):
        _decode_and_add(index, into, live)
    rows = RowTable(table.kb_rows[live], table.kinds[live], table.live[live], table.texts[live])
    into.finish(rows.searched_apart)
    return EntityIndex(
        into,
        rows,
        index.priors,
        kb_fingerprint=index.kb_fingerprint,
        encoder_fingerprint=index.encoder_fingerprint,
        kinds=index.kinds,
        topics=index.topics,
    )


def _decode_and_add(index: EntityIndex, into: VectorIndex, live: Rows) -> None:
    sample = np.sort(np.random.default_rng(0).permutation(live)[: _SAMPLE if into.needs_training else 0])
    decoded = [index.vectors.vectors(row, row + 1) for row in sample.tolist()]
    into.train(np.concatenate([np.empty((0, index.width), dtype=np.float32), *decoded]))
    for start in range(0, len(index), BLOCK):
        stop = min(start + BLOCK, len(index))
        into.add(index.vectors.vectors(start, stop)[index.rows.live[start:stop]])

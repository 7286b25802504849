"""The same index with other codes: embed once at full precision, then compress."""

import numpy as np

from ..errors import Errors, PelError
from ..types import Rows, VectorIndex
from .entity_index import EntityIndex
from .faiss_ivf import FaissIVF
from .faiss_rows import FaissRows
from .row_table import KINDS, RowTable

_BLOCK = 65_536  # rows decoded at a time: 100 MB at width 384
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
    live = np.flatnonzero(index.rows.live)
    if not len(live):
        raise PelError(Errors.E407.format(n_documents=0))
    rows = _take_rows(index, into, live) or _encode_rows(index, into, live)
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


def _take_rows(index: EntityIndex, into: VectorIndex, live: Rows) -> RowTable | None:
    if not (isinstance(into, FaissIVF) and into.keeps_codes and isinstance(index.vectors, FaissRows)):
        return None
    into.take_rows(index.vectors, live)
    table = index.rows
    texts = None if table.texts is None else table.texts[live]
    return RowTable(table.kb_rows[live], table.kinds[live], table.live[live], texts)


def _encode_rows(index: EntityIndex, into: VectorIndex, live: Rows) -> RowTable:
    wanted = _SAMPLE if into.needs_training else 0
    chosen = np.sort(np.random.default_rng(0).permutation(live)[:wanted])
    sample = [index.vectors.vectors(row, row + 1) for row in chosen.tolist()]
    into.train(np.concatenate([np.empty((0, index.width), dtype=np.float32), *sample]))
    rows = RowTable.empty()
    for start in range(0, len(index), _BLOCK):
        stop = min(start + _BLOCK, len(index))
        vectors = index.vectors.vectors(start, stop)
        for number, kind in enumerate(KINDS):
            picked = np.flatnonzero(index.rows.live[start:stop] & (index.rows.kinds[start:stop] == number))
            if len(picked):
                into.add(vectors[picked])
                texts = None if index.rows.texts is None else index.rows.texts[start + picked]
                rows.append(index.kb_rows[start + picked].astype(np.int64), kind, texts)
    return rows

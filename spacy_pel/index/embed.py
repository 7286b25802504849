"""Embedding in chunks, so that memory stays bounded however large the knowledge base is."""

from itertools import islice
from typing import Callable, Dict, Hashable, Iterable, Iterator, List, Sequence, Tuple, TypeVar

import numpy as np

from ..kb import KnowledgeBase
from ..types import Encoder, Rows, Vectors
from ..util import progress
from .row_table import NAME_KINDS
from .rows_of_kb import LinkedMentions, entities_at, with_names

_CHUNK = 16_384  # strings at a time: 25 MB of vectors at width 384
Item = TypeVar("Item", bound=Hashable)
Chunk = Tuple[str, Rows, Vectors]  # kind, KB rows, vectors


def embed_entities(
    kb: KnowledgeBase, encoder: Encoder, kb_rows: Rows, kinds: Sequence[str], *, show_progress: bool = False
) -> Iterator[Chunk]:
    """Embed cards, names, or both of entities.

    kb (KnowledgeBase): the entities.
    encoder (Encoder): computes the vectors.
    kb_rows (NDArray[int64]): rows of the entities.
    kinds (Sequence[str]): kinds of rows wanted; "mention" is ignored.
    show_progress (bool): show a progress bar.
    YIELDS (Tuple[str, Rows, Vectors]): kind, KB rows and vectors of a chunk.
    """
    for kind in NAME_KINDS:
        if kind not in kinds:
            continue
        entities = progress(
            entities_at(kb, kb_rows),
            description=f"Embedding {kind} rows",
            total=len(kb_rows),
            show=show_progress,
        )
        if kind == "card":
            yield from ((kind, *chunk) for chunk in _chunks(entities, encoder.encode_entities))
        else:
            yield from ((kind, *chunk) for chunk in _chunks(with_names(entities), encoder.encode_names))


def embed_mentions(encoder: Encoder, gold: LinkedMentions, *, show_progress: bool = False) -> Iterator[Chunk]:
    """YIELDS (Tuple[str, Rows, Vectors]): "mention", KB rows and vectors of a chunk."""
    pairs = zip(gold.kb_rows.tolist(), gold.mentions, strict=True)
    bar = progress(pairs, description="Embedding mention rows", total=len(gold.mentions), show=show_progress)
    yield from (("mention", *chunk) for chunk in _chunks(bar, encoder.encode_mention_rows))


def _chunks(
    items: Iterable[Tuple[int, Item]], encode: Callable[[Sequence[Item]], Vectors]
) -> Iterator[Tuple[Rows, Vectors]]:
    """Encode a stream chunk by chunk; within a chunk equal items are encoded once."""
    stream = iter(items)
    while chunk := list(islice(stream, _CHUNK)):
        positions: Dict[Item, int] = {}
        of_chunk: List[int] = [positions.setdefault(item, len(positions)) for _, item in chunk]
        vectors = encode(list(positions))
        yield np.array([row for row, _ in chunk], dtype=np.int64), vectors[of_chunk]

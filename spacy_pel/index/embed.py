"""Embedding in chunks, so that memory stays bounded however large the knowledge base is."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import Encoder, Rows, Vectors
from ..util.progress import ChunkProgress
from .row_table import NAME_KINDS, hash_texts
from .rows_of_kb import LinkedMentions, entities_at, with_names

_CHUNK = 16_384  # strings at a time: 25 MB of vectors at width 384
Item = TypeVar("Item", bound=Hashable)


class Chunk(NamedTuple):
    """Rows of one kind.

    Attributes:
        kind: card, alias or mention.
        kb_rows: the entity of each.
        texts: a hash of what each stands for.
        vectors: (n, width).
    """

    kind: str
    kb_rows: Rows
    texts: NDArray[np.uint64]
    vectors: Vectors


def embed_entities(
    kb: KnowledgeBase, encoder: Encoder, kb_rows: Rows, kinds: Sequence[str], *, show_progress: bool = False
) -> Iterator[Chunk]:
    """Embed cards, names, or both of entities.

    Args:
        kb: the entities.
        encoder: computes the vectors.
        kb_rows: rows of the entities.
        kinds: kinds of rows wanted; "mention" is ignored.
        show_progress: show a progress bar.

    Yields:
        Cards, then names.
    """
    for kind in NAME_KINDS:
        if kind not in kinds:
            continue
        entities = entities_at(kb, kb_rows)
        bar = ChunkProgress(description=f"Embedding {kind} rows", total=len(kb_rows), show=show_progress)
        if kind == "card":
            yield from _chunks(kind, entities, encoder.encode_entities, bar)
        else:
            yield from _chunks(kind, with_names(entities), encoder.encode_names, bar)


def embed_mentions(encoder: Encoder, gold: LinkedMentions, *, show_progress: bool = False) -> Iterator[Chunk]:
    """mentions."""
    pairs = zip(gold.kb_rows.tolist(), gold.mentions, strict=True)
    bar = ChunkProgress(description="Embedding mention rows", total=len(gold.mentions), show=show_progress)
    yield from _chunks("mention", pairs, encoder.encode_mention_rows, bar)


def _chunks(
    kind: str, items: Iterable[tuple[int, Item]], encode: Callable[[Sequence[Item]], Vectors], bar: ChunkProgress
) -> Iterator[Chunk]:
    """Encode a stream chunk by chunk; within a chunk equal items are encoded once."""
    stream, last = iter(items), -1
    with bar:
        while chunk := list(islice(stream, _CHUNK)):
            positions: dict[Item, int] = {}
            of_chunk: list[int] = [positions.setdefault(item, len(positions)) for _, item in chunk]
            unique = list(positions)
            kb_rows = np.array([row for row, _ in chunk], dtype=np.int64)
            # the bar of names counts entities; one may have names in two chunks
            new = int((np.diff(kb_rows, prepend=last) != 0).sum()) if kind == "alias" else len(chunk)
            last = int(kb_rows[-1])
            with bar.chunk(new):
                vectors = [encode(unique)[of_chunk]]
            # popped, so that they are not kept while the next ones are computed
            yield Chunk(kind, kb_rows, hash_texts(kind, unique)[of_chunk], vectors.pop())

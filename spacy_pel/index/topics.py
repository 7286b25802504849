"""Topics: which entities annotated texts name, and what these texts are about."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..types import Rows, Scores, Vectors
from ..util.arrow_files import read_arrays, write_arrays
from ..util.ragged import offsets_of

_VECTORS, _PAIRS = "topic_vectors.npy", "topic_pairs.arrow"
# of an entity that no annotated text names, and of a mention without a text around it: topics say nothing
UNKNOWN = 0.009
TEMPERATURE = 0.05  # of the softmax over texts; on MedMentions dev it spreads over some 40 of 2,371


class Topics:
    """Annotated texts near a text say which entities it is about:

        P(e | text) = sum over annotated texts d that name e of softmax_d(cos(text, d) / TEMPERATURE)

    Args:
        vectors: (n, width), the texts; of length 1.
        kb_rows: (p,) ascending, the entity of each pair of entity and text; each pair once.
        texts: (p,) the text of each pair.
    """

    def __init__(self, vectors: NDArray[np.float16], kb_rows: NDArray[np.int32], texts: NDArray[np.int32]):
        self.vectors = vectors
        self.kb_rows = kb_rows
        self.texts = texts
        self._entities, lengths = np.unique(kb_rows, return_counts=True)
        self._offsets = offsets_of(lengths)
        self._wide: Vectors | None = None

    def __len__(self) -> int:
        return len(self.vectors)

    @classmethod
    def build(cls, vectors: NDArray[Any], kb_rows: Sequence[Rows]) -> "Topics":
        """Args:
            vectors: (n, width), of length 1. kb_rows (Sequence[NDArray[int64]]): for each text the
                entities that it names, with repeats.

        Returns:
            Of these texts.
        """
        distinct = [np.unique(rows) for rows in kb_rows]
        rows = np.concatenate([np.zeros(0, np.int64), *distinct])
        texts = np.repeat(np.arange(len(distinct)), [len(own) for own in distinct])
        order = np.argsort(rows, kind="stable")
        return cls(vectors.astype(np.float16), rows[order].astype(np.int32), texts[order].astype(np.int32))

    def without(self, texts: Rows) -> "Topics":
        """Without these texts, numbered as they were given."""
        kept = np.setdiff1d(np.arange(len(self)), texts)
        number = np.full(len(self), -1, dtype=np.int32)
        number[kept] = np.arange(len(kept))
        stay = number[self.texts] >= 0
        return Topics(self.vectors[kept], self.kb_rows[stay], number[self.texts[stay]])

    def shares(self, vectors: Vectors, texts: Rows, kb_rows: Rows) -> Scores:
        """P(entity | text) of pairs.

        Args:
            vectors: (u, width), of texts; of length 1.
            texts: (m,) the text of each pair.
            kb_rows: (m,) its entity.

        Returns:
            (m,), from 0 to 1; UNKNOWN where no annotated text names the entity.
        """
        result = np.full(len(kb_rows), UNKNOWN, dtype=np.float32)
        if not len(self) or not len(self._entities):
            return result
        if self._wide is None:
            self._wide = self.vectors.astype(np.float32)
        logits = vectors @ self._wide.T / TEMPERATURE
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        place = np.minimum(np.searchsorted(self._entities, kb_rows), len(self._entities) - 1)
        known = self._entities[place] == kb_rows
        for text in range(len(vectors)):
            own = np.flatnonzero(known & (texts == text))
            shares = np.add.reduceat(weights[text][self.texts], self._offsets[:-1])
            result[own] = shares[place[own]]
        return result

    def columns(self) -> dict[str, NDArray[Any]]:
        """The pairs by name."""
        return {"kb_row": self.kb_rows, "text": self.texts}

    def to_disk(self, path: Path) -> None:
        """Write the files to a folder."""
        np.save(path / _VECTORS, self.vectors, allow_pickle=False)
        write_arrays(path / _PAIRS, self.columns())

    @classmethod
    def from_disk(cls, path: Path) -> "Topics":
        """Those of a folder, mapped into memory.

        Raises:
            ValueError: if the files are damaged, or do not fit together.
        """
        try:
            vectors = np.load(path / _VECTORS, mmap_mode="r", allow_pickle=False)
        except EOFError as err:
            raise ValueError(f"{_VECTORS} is cut off") from err
        pairs = read_arrays(pa.memory_map(str(path / _PAIRS)).read_buffer())
        kb_rows, texts = pairs["kb_row"], pairs["text"]
        if vectors.ndim != 2 or vectors.dtype != np.float16:
            raise ValueError(f"{_VECTORS} has an array of {vectors.ndim} dimensions of {vectors.dtype}")
        if len(kb_rows) != len(texts) or (np.diff(kb_rows) < 0).any():
            raise ValueError(f"{_PAIRS} has entities without a text, or not in order")
        if len(texts) and not 0 <= texts.min() <= texts.max() < len(vectors):
            raise ValueError(f"{_PAIRS} names texts that {_VECTORS} does not have")
        return cls(vectors, kb_rows, texts)


def build_topics(
    encoder: Any, texts: Sequence[str], kb_rows: Sequence[Rows], *, show_progress: bool = False
) -> Topics | None:
    """Encode annotated texts.

    Args:
        encoder: the encoder of the index.
        texts: the texts.
        kb_rows: the entities that each of them names; texts without one are left out.

    Returns:
        None if there is no such text, or the encoder does not read texts.
    """
    used = [number for number, rows in enumerate(kb_rows) if len(rows)]
    # not in the protocol: an encoder may read mentions and names only
    encode_texts = getattr(encoder, "encode_texts", None)
    if not used or encode_texts is None:
        return None
    vectors = encode_texts([texts[number] for number in used], show_progress=show_progress)
    return Topics.build(vectors, [kb_rows[number] for number in used])


class TopicReader:
    """Gives P(entity | text) to the candidates of batches of mentions.

    Texts that were read for the last batch are not read again: one batch may end in the middle of a text.

    Args:
        encoder: the encoder of the index, with ``encode_texts``.
        topics: those of the index.
    """

    def __init__(self, encoder: Any, topics: Topics):
        self.encoder = encoder
        self.topics = topics
        self._last: Mapping[str, Vectors] = {}

    def shares(self, texts: Sequence[str], kb_rows: Rows, of_candidates: Rows) -> Scores:
        """Args:
            texts: (n,) the text around each mention; "" = there is none.
            kb_rows: (m,) candidates.
            of_candidates: (m,) the mention of each of them.

        Returns:
            (m,), see ``Topics.shares``; UNKNOWN without a text.
        """
        result = np.full(len(kb_rows), UNKNOWN, dtype=np.float32)
        numbers, vectors = self._read(texts)
        which = np.array([numbers.get(text, -1) for text in texts], dtype=np.int64)
        of_text = which[of_candidates] if len(which) else np.zeros(0, dtype=np.int64)
        read = np.flatnonzero(of_text >= 0)
        if len(read):
            result[read] = self.topics.shares(np.stack(vectors), of_text[read], kb_rows[read])
        return result

    def _read(self, texts: Sequence[str]) -> tuple[dict[str, int], list[Vectors]]:
        """The number of each distinct text, and their vectors."""
        last = self._last  # another thread may replace it
        distinct = [text for text in dict.fromkeys(texts) if text]
        new = [text for text in distinct if text not in last]
        found = dict(zip(new, self.encoder.encode_texts(new), strict=True)) if new else {}
        vectors = [last[text] if text in last else found[text] for text in distinct]
        self._last = dict(zip(distinct, vectors, strict=True))
        return {text: number for number, text in enumerate(distinct)}, vectors

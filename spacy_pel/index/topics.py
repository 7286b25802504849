"""What texts are about, by their words, and which entities annotated texts on the same subject name."""

import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Rows, Scores
from ..util.arrays import in_range, look_up, numbered, offsets_of, softmax
from ..util.arrow_files import write_arrays
from .row_table import map_arrays

_WORDS, PAIRS = "topic_words.arrow", "topic_pairs.arrow"
# of an entity that no annotated text names, and of a mention without a text around it: topics say nothing
UNKNOWN = 0.009
TEMPERATURE = 0.03  # of the softmax over texts
_WORD = re.compile(r"[^\W_]{2,}")
_N_WORDS = 1 << 16  # words are told apart by their hashes
_READ = 1 << 15  # characters of a text


class Topics:
    """Annotated texts near a text say which entities it is about:

        P(e | text) = sum over annotated texts d that name e of softmax_d(cos(text, d) / TEMPERATURE)

    The cosine is that of the words, each weighted by (1 + log tf) (1 + log (1 + n) / (1 + df)), where it occurs tf
    times in the text and in df of the n annotated ones (TF-IDF; Salton and Buckley 1988).

    Args:
        words: (q,) ascending, the word of each pair of word and text.
        word_texts: (q,) its text.
        weights: (q,) its weight; those of a text have length 1.
        kb_rows: (p,) ascending, the entity of each pair of entity and text; each pair once.
        texts: (p,) the text of each pair.
    """

    def __init__(
        self,
        words: NDArray[np.uint16],
        word_texts: NDArray[Any],
        weights: NDArray[np.float16],
        kb_rows: NDArray[np.int32],
        texts: NDArray[np.int32],
    ):
        self.words, self.word_texts, self.weights = words, word_texts, weights
        self.kb_rows, self.texts = kb_rows, texts
        # int: a number of one byte ends at 255
        self._n_texts = 1 + int(max(word_texts.max(initial=0), texts.max(initial=0))) if len(kb_rows) else 0
        self._entities, lengths = np.unique(kb_rows, return_counts=True)
        self._offsets = offsets_of(lengths)
        frequencies = np.bincount(words, minlength=_N_WORDS)
        self._word_offsets = offsets_of(frequencies)
        self._rarity = 1 + np.log((1 + self._n_texts) / (1 + frequencies))

    def __len__(self) -> int:
        return self._n_texts

    @classmethod
    def build(cls, texts: Sequence[str], kb_rows: Sequence[Rows]) -> "Topics":
        """Count words, and pair texts with their entities.

        Args:
            texts: annotated texts; those without an entity are left out.
            kb_rows: for each text the entities that it names, with repeats.
        """
        used = [number for number, rows in enumerate(kb_rows) if len(rows)]
        counted = [_counts(texts[number]) for number in used]
        named = [np.unique(kb_rows[number]) for number in used]
        pairs = []  # words, then entities, each with its text, by ascending word or entity
        for numbers in ([words for words, _ in counted], named):
            flat = np.concatenate([np.zeros(0, np.int64), *numbers])
            which = np.repeat(np.arange(len(used)), list(map(len, numbers)))
            pairs.append((flat, which, np.argsort(flat, kind="stable")))
        (words, word_texts, order), (rows, of_rows, by_row) = pairs
        of_texts = rows[by_row].astype(np.int32), of_rows[by_row].astype(np.int32)
        empty = np.zeros(len(order), np.float16)
        # the fewest bytes that number the texts
        small = word_texts[order].astype(np.min_scalar_type(len(used)))
        topics = cls(words[order].astype(np.uint16), small, empty, *of_texts)
        weights = [topics._weights(*one) for one in counted]
        topics.weights = np.concatenate([empty[:0], *weights])[order].astype(np.float16)
        return topics

    def redirected(self, successors: NDArray[np.int32]) -> "Topics":
        """With the texts of other entities: for each row of the knowledge base the one that gets its texts."""
        pairs = np.unique(np.stack([successors[self.kb_rows], self.texts]), axis=1)
        return Topics(self.words, self.word_texts, self.weights, *pairs)

    def shares(self, texts: Sequence[str], kb_rows: Rows) -> Scores:
        """P(entity | text) of candidates.

        Args:
            texts: (n,) the text around each mention; "" = there is none.
            kb_rows: (n, k) candidates, -1 = none.

        Returns:
            (n, k), from 0 to 1; UNKNOWN without a text, and where no annotated text names the entity.
        """
        result = np.full(kb_rows.shape, UNKNOWN, dtype=np.float32)
        if not len(self):
            return result
        position, known = look_up(self._entities, kb_rows)
        distinct, which = numbered(texts)
        for number, text in enumerate(distinct):
            own = which == number
            if text and known[own].any():
                near = softmax(self._cosines(text)[None] / TEMPERATURE)[0]
                of_entities = np.add.reduceat(near[self.texts], self._offsets[:-1])
                result[own] = np.where(known[own], of_entities[position[own]], UNKNOWN)
        return result

    def _cosines(self, text: str) -> NDArray[np.float64]:
        """(number of texts,)"""
        words, counts = _counts(text)
        weights = self._weights(words, counts)
        starts, ends = self._word_offsets[words], self._word_offsets[words + 1]
        of_words = list(map(slice, starts.tolist(), ends.tolist()))  # the pieces are long: quicker than take_pieces
        texts = np.concatenate([self.word_texts[:0], *map(self.word_texts.__getitem__, of_words)])
        own = np.concatenate([self.weights[:0], *map(self.weights.__getitem__, of_words)])
        return np.bincount(texts, np.repeat(weights, ends - starts) * own, self._n_texts).astype(np.float64, copy=False)

    def _weights(self, words: Rows, counts: Rows) -> NDArray[np.float64]:
        """Of the words of a text, of length 1."""
        weights = (1 + np.log(counts)) * self._rarity[words]
        return weights / max(np.linalg.norm(weights), 1e-9)

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All that it knows."""
        return [self.words, self.word_texts, self.weights, self.kb_rows, self.texts]

    def to_disk(self, path: Path) -> None:
        """Write the files to a folder."""
        write_arrays(path / _WORDS, {"word": self.words, "text": self.word_texts, "weight": self.weights})
        write_arrays(path / PAIRS, {"kb_row": self.kb_rows, "text": self.texts})

    @classmethod
    def from_disk(cls, path: Path, n_texts: int) -> "Topics":
        """Map those of that many texts into memory.

        Raises:
            ValueError: if the files are damaged.
        """
        of_words, pairs = map_arrays(path / _WORDS), map_arrays(path / PAIRS)
        words, word_texts, weights = of_words["word"], of_words["text"], of_words["weight"]
        kb_rows, texts = pairs["kb_row"], pairs["text"]
        kinds = "".join(part.dtype.kind for part in (word_texts, kb_rows, texts))
        is_read = words.dtype == np.uint16 and weights.dtype.kind == "f" and set(kinds) <= set("iu")
        is_read = is_read and not any((part[1:] < part[:-1]).any() for part in (words, kb_rows))
        if not (is_read and np.isfinite(weights).all() and in_range(word_texts, n_texts) and in_range(texts, n_texts)):
            raise ValueError(f"{_WORDS} and {PAIRS} are not sorted, or have numbers that no word or text has")
        return cls(words, word_texts, weights, kb_rows, texts)


def _counts(text: str) -> tuple[Rows, Rows]:
    """The words of a text, and how often each of them occurs."""
    words = _WORD.findall(text[:_READ].lower())
    numbers = [zlib.crc32(word.encode("utf8", "surrogatepass")) % _N_WORDS for word in words]
    return np.unique(np.array(numbers, dtype=np.int64), return_counts=True)

"""Texts as a similarity compares them, in arrays: one vector per text, or one per token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..types import Rows, Scores, Vectors
from ..util.arrays import offsets_of, take_pieces
from .backend import empty_vectors
from .similarities import Encoded, Similarity, TokenVectors, each

_PAIRS = 1 << 22  # numbers of each side's vectors in one comparison: 16 MB


@dataclass
class Representations:
    """n texts.

    vectors: (n, width), or (tokens of all texts, width). Not prepared for an index.
    offsets: (n + 1,) int64, tokens of text i are ``offsets[i]:offsets[i + 1]``; None = pooled.
    """

    vectors: Vectors
    offsets: Rows | None = None

    @classmethod
    def empty(cls, lengths: Rows, width: int) -> "Representations":
        """Arrays for tokens of texts of these lengths, to be filled by ``put``."""
        offsets = offsets_of(lengths)
        return cls(empty_vectors(int(offsets[-1]), width), offsets)

    @classmethod
    def of(cls, texts: Sequence[NDArray[np.float32]]) -> "Representations":
        """Of at least one text, each as ``texts`` gives it."""
        if texts[0].ndim == 1:
            return cls(np.stack(texts))
        return cls(np.concatenate(texts), offsets_of(np.array([len(text) for text in texts])))

    def texts(self) -> list[NDArray[np.float32]]:
        """(n,), each (width,), or (tokens, width); views."""
        if self.offsets is None:
            return list(self.vectors)
        return [self.vectors[a:b] for a, b in zip(self.offsets, self.offsets[1:], strict=False)]

    def __len__(self) -> int:
        return len(self.vectors) if self.offsets is None else len(self.offsets) - 1

    @property
    def longest(self) -> int:
        """Tokens of the longest text; 1 where they are pooled."""
        return 1 if self.offsets is None else int(np.diff(self.offsets).max(initial=1))

    def put(self, rows: Rows, mask: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Fill in a batch of what ``empty`` made, see ``encode_batches``.

        Args:
            rows: which texts.
            mask: (batch, length), 1 = a real token.
            vectors: (batch, length, width).
        """
        positions = take_pieces(np.arange(len(self.vectors)), self.offsets, rows)  # type: ignore[arg-type]
        self.vectors[positions] = vectors[mask > 0]

    def take(self, rows: Rows) -> Encoded:
        """Of these texts, as a similarity reads it: (k, width), or TokenVectors."""
        if self.offsets is None:
            return torch.from_numpy(self.vectors[rows])
        lengths = np.diff(self.offsets)[rows]
        mask = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
        vectors = np.zeros((*mask.shape, self.vectors.shape[1]), dtype=np.float32)
        vectors[mask] = take_pieces(self.vectors, self.offsets, rows)
        return TokenVectors(torch.from_numpy(vectors), torch.from_numpy(mask))


def pair_scores(
    similarity: Similarity,
    mentions: Representations,
    entities: Representations,
    mention_rows: Rows,
    entity_rows: Rows,
    *,
    device: Any = "cpu",
) -> Scores:
    """Score pairs of mentions and entities, in chunks.

    Args:
        similarity: any registered one; it reads what ``BiEncoder.represent_mentions`` and
            ``represent_entities`` gave.
        mention_rows, entity_rows: (p,), the two sides of each pair.
        device: where to compute.

    Returns:
        (p,), the higher the better.
    """
    scores = np.empty(len(mention_rows), dtype=np.float32)
    longest = max(mentions.longest, entities.longest)
    block = max(1, _PAIRS // (longest * mentions.vectors.shape[1]))
    with torch.inference_mode():
        for start in range(0, len(scores), block):
            piece = slice(start, start + block)
            ours = each(mentions.take(mention_rows[piece]), lambda part: part.to(device))
            theirs = each(entities.take(entity_rows[piece]), lambda part: part.to(device).unsqueeze(1))
            scores[piece] = similarity.paired(ours, theirs)[:, 0].float().cpu().numpy()
    return scores

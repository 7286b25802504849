"""Vectors of entity cards in chunks, of which each mining re-embeds all, or a share in turn."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...encoders.bi_encoder import BiEncoder
from ...encoders.templates import RaggedTokens
from ...errors import Errors, PelError
from ...types import Rows, Vectors
from ...util import atomic_path

_CHUNK = 16_384  # cards at a time: 50 MB of vectors at width 768


class EntityChunks:
    """Embeds cards for successive minings. With a share of 1/n, each mining re-embeds every n-th chunk;
    the others keep vectors of an older model, on disk.

    Each chunk is spread evenly over the knowledge base, so it is a representative sample. Vectors are
    saved under the number of the mining that made them, so a resumed training finds those of its
    checkpoint.

    Args:
        cards: one sequence per entity.
        folder: for the saved vectors.
        share: of the knowledge base that each mining re-embeds; the first one embeds all.
    """

    def __init__(self, cards: RaggedTokens, folder: Path, *, share: float = 1.0, chunk: int = _CHUNK):
        self.cards = cards
        self.folder = folder
        self.turns = max(1, round(1 / share))
        # at least one chunk per mining of a cycle, if there are enough cards
        self.n_chunks = max(-(-len(cards) // chunk), min(self.turns, len(cards)))

    def embed(self, encoder: BiEncoder, number: int) -> Iterator[tuple[Rows, Vectors]]:
        """Embed the chunks that are due and load the others.

        Args:
            encoder: with the current weights.
            number: of the mining, from 1.

        Yields:
            Numbers and vectors of each chunk of the knowledge base.

        Raises:
            PelError: if saved vectors are missing or damaged.
        """
        for chunk in range(self.n_chunks):
            rows = np.arange(chunk, len(self.cards), self.n_chunks)
            if self.made_by(chunk, number) == number:
                vectors = encoder.encode_tokens("entity", self.cards.take(rows))
                if self.turns > 1:
                    with atomic_path(self._path(chunk, number)) as part, part.open("wb") as file:
                        np.save(file, vectors.astype(np.float16))
            else:
                vectors = self._load(self._path(chunk, self.made_by(chunk, number)), len(rows))
            yield rows, vectors

    def made_by(self, chunk: int, number: int) -> int:
        """The mining whose vectors of a chunk are used by mining ``number``."""
        latest = number - (number - 1 - chunk) % self.turns
        return max(latest, 1)

    def forget(self, number: int) -> None:
        """Delete the vectors that neither mining ``number`` nor later ones use."""
        kept = {self._path(chunk, self.made_by(chunk, number)) for chunk in range(self.n_chunks)}
        for path in self.folder.glob("chunk-*.npy"):
            if path not in kept:
                path.unlink()

    def _path(self, chunk: int, number: int) -> Path:
        return self.folder / f"chunk-{chunk:05}-{number:05}.npy"

    @staticmethod
    def _load(path: Path, n: int) -> Vectors:
        try:
            vectors = np.load(path)
        except (OSError, ValueError, EOFError) as err:
            raise PelError(Errors.E320.format(path=path, got=err)) from err
        if len(vectors) != n:
            raise PelError(Errors.E320.format(path=path, got=f"it has {len(vectors)} vectors, not {n}"))
        return vectors.astype(np.float32)

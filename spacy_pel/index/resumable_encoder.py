"""An encoder that keeps its vectors in files, so that embedding a large knowledge base can be interrupted."""

import shutil
from pathlib import Path
from typing import Any, Callable, List, Sequence

import numpy as np
from typing_extensions import Self

from ..types import Encoder, Entity, MentionInText, Vectors
from ..util import atomic_path, fingerprint


class ResumableEncoder:
    """An encoder that keeps the vectors of each batch it is given in a file, and reads them from there if
    it is given the same batch again.

    A file is named by its content: the encoder and the texts. Whatever has changed since the interruption is
    encoded again.

    encoder (Encoder): computes the vectors.
    folder (Path): for the files; made when the first one is written.
    backend (str): what else the vectors depend on.
    """

    def __init__(self, encoder: Encoder, folder: Path, *, backend: str = ""):
        self.folder = folder
        self.n_resumed = 0  # vectors that were read, not computed
        self._encoder = encoder
        self._backend = backend

    @property
    def width(self) -> int:
        return self._encoder.width

    @property
    def fingerprint(self) -> str:
        return self._encoder.fingerprint

    def initialize(self) -> None:
        """Load or draw the weights of the encoder."""
        self._encoder.initialize()

    def encode_mentions(self, mentions: Sequence[MentionInText], *, show_progress: bool = False) -> Vectors:
        """RETURNS (Vectors): (n, width), queries; nothing is kept."""
        return self._encoder.encode_mentions(mentions, show_progress=show_progress)

    def encode_mention_rows(
        self, mentions: Sequence[MentionInText], *, show_progress: bool = False
    ) -> Vectors:
        """RETURNS (Vectors): (n, width), rows of mentions."""
        return self._kept("mention", mentions, self._encoder.encode_mention_rows, show_progress)

    def encode_entities(self, entities: Sequence[Entity], *, show_progress: bool = False) -> Vectors:
        """RETURNS (Vectors): (n, width), rows of cards."""
        return self._kept("card", entities, self._encoder.encode_entities, show_progress)

    def encode_names(self, names: Sequence[str], *, show_progress: bool = False) -> Vectors:
        """RETURNS (Vectors): (n, width), rows of names."""
        return self._kept("alias", names, self._encoder.encode_names, show_progress)

    def _kept(
        self, kind: str, items: Sequence[Any], encode: Callable[..., Vectors], show_progress: bool
    ) -> Vectors:
        texts: List[str] = [repr(item) for item in items]
        path = self.folder / f"{fingerprint(self.fingerprint, self._backend, kind, *texts)}.npy"
        if path.is_file():
            self.n_resumed += len(items)
            return np.load(path, allow_pickle=False)  # type: ignore[no-any-return]
        vectors = encode(items, show_progress=show_progress)
        with atomic_path(path) as part, part.open("wb") as file:
            np.save(file, vectors)
        return vectors

    def finish(self) -> None:
        """Delete the files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def to_disk(self, path: Path) -> None:
        """Save the encoder."""
        self._encoder.to_disk(path)

    def from_disk(self, path: Path) -> Self:
        """Load the encoder."""
        self._encoder.from_disk(path)
        return self

"""An encoder that keeps its vectors in files, so that embedding a large knowledge base can be interrupted."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..types import Encoder, Vectors
from ..util import atomic_path, fingerprint
from .row_encoder import Encode, RowEncoder


class ResumableEncoder(RowEncoder):
    """An encoder that keeps the vectors of each batch it is given in a file, and reads them from there if
    it is given the same batch again.

    A file is named by its content: the encoder and the texts. Whatever has changed since the interruption is
    encoded again.

    Args:
        encoder: computes the vectors.
        folder: for the files; made when the first one is written.
        backend: what else the vectors depend on.
    """

    def __init__(self, encoder: Encoder, folder: Path, *, backend: str = ""):
        super().__init__(encoder)
        self.folder = folder
        self.n_resumed = 0  # vectors that were read, not computed
        self._backend = backend

    def encode_rows(self, kind: str, items: Sequence[Any], encode: Encode, show_progress: bool) -> Vectors:
        """(n, width), from the file of this batch if there is one."""
        texts: list[str] = [repr(item) for item in items]
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

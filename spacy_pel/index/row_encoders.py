"""Encoders around another one that do not compute all vectors of an index: some were computed before."""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors, PelError
from ..types import Encoder, Entity, MentionInText, Rows, VectorIndex, Vectors
from ..util import atomic_path, fingerprint
from ..util.arrays import look_up
from .entity_index import EntityIndex
from .row_table import RowTable, hash_texts


class RowEncoder(ABC):
    """Passes everything on to an encoder, but the rows of an index go through ``encode_rows``.

    Args:
        encoder: computes the vectors.
    """

    def __init__(self, encoder: Encoder):
        self._encoder = encoder
        self.width = encoder.width
        self.fingerprint = encoder.fingerprint

    @abstractmethod
    def encode_rows(self, kind: str, items: Sequence[Any], encode: Callable[..., Vectors], show: bool) -> Vectors:
        """Get the vectors of rows.

        Args:
            kind: card, alias or mention.
            items: what the rows stand for: entities, names or mentions.
            encode: computes the vectors of such items.
            show: show a progress bar.

        Returns:
            (n, width).
        """

    def encode_mention_rows(self, mentions: Sequence[MentionInText], *, show_progress: bool = False) -> Vectors:
        """(n, width), rows of mentions."""
        return self.encode_rows("mention", mentions, self._encoder.encode_mention_rows, show_progress)

    def encode_entities(self, entities: Sequence[Entity], *, show_progress: bool = False) -> Vectors:
        """(n, width), rows of cards."""
        return self.encode_rows("card", entities, self._encoder.encode_entities, show_progress)

    def encode_names(self, names: Sequence[str], *, show_progress: bool = False) -> Vectors:
        """(n, width), rows of names."""
        return self.encode_rows("alias", names, self._encoder.encode_names, show_progress)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self._encoder, name)


class ResumableEncoder(RowEncoder):
    """An encoder that keeps the vectors of each batch in a file and reads them from there if it is given the
    same batch again, so that embedding a large knowledge base can be interrupted.

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

    def encode_rows(self, kind: str, items: Sequence[Any], encode: Callable[..., Vectors], show: bool) -> Vectors:
        """(n, width), from the file of this batch if there is one."""
        texts: list[str] = [repr(item) for item in items]
        path = self.folder / f"{fingerprint(self.fingerprint, self._backend, kind, *texts)}.npy"
        if path.is_file():
            self.n_resumed += len(items)
            return np.load(path, allow_pickle=False)  # type: ignore[no-any-return]
        vectors = encode(items, show_progress=show)
        with atomic_path(path) as part, part.open("wb") as file:
            np.save(file, vectors)
        return vectors

    def finish(self) -> None:
        """Delete the files."""
        shutil.rmtree(self.folder, ignore_errors=True)


class ReusingEncoder(RowEncoder):
    """An encoder that takes vectors from an index where that has a row for the same text, and computes the
    others. An index built with it is the same as one built with the encoder alone.

    Args:
        encoder: computes the vectors.
        old: built with the same encoder.
        into: the kind of index that is to be built.

    Raises:
        PelError: if the index was built with another encoder, or does not hold the vectors as precisely as
            ``into`` needs them.
    """

    def __init__(self, encoder: Encoder, old: EntityIndex, into: VectorIndex):
        super().__init__(encoder)
        old.check_built_for(None, encoder)
        # not in the protocol: an index of another package may lack it
        precision, needed = (getattr(index, "precision", None) for index in (old.vectors, into))
        if precision is None or precision not in ("fp32", needed):
            settings = ", ".join(f"{key} {value}" for key, value in old.vectors.settings.items() if value is not None)
            raise PelError(Errors.E416.format(path=old.path, got=f"{old.vectors.name} with {settings}"))
        self._old = old.vectors
        self._row_of = np.argsort(old.rows.texts, kind="stable")
        self._texts = old.rows.texts[self._row_of]
        self._live = old.rows.texts[old.rows.live]

    def encode_rows(self, kind: str, items: Sequence[Any], encode: Callable[..., Vectors], show: bool) -> Vectors:
        """(n, width), from the index where it has them."""
        wanted = hash_texts(kind, items)
        positions, known = look_up(self._texts, wanted)
        vectors = np.empty((len(items), self.width), dtype=np.float32)
        if known.any():
            rows, back = np.unique(self._row_of[positions[known]], return_inverse=True)
            vectors[known] = self._vectors_of(rows)[back]
        if not known.all():
            new = np.flatnonzero(~known)
            vectors[new] = encode([items[number] for number in new.tolist()], show_progress=show)
        return vectors

    def counts(self, built: RowTable) -> dict[str, int]:
        """Compare the rows of the index that was built with those of the old one.

        Args:
            built: its rows.

        Returns:
            Rows whose vectors were "reused" and "embedded", and rows of the old index
            that the new one has no use for, "dropped".
        """
        reused = int(np.isin(built.texts, self._texts).sum())
        dropped = int((~np.isin(self._live, built.texts)).sum())
        return {"reused": reused, "embedded": len(built) - reused, "dropped": dropped}

    def _vectors_of(self, rows: Rows) -> Vectors:
        # ascending rows; those that follow each other are read at once
        runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
        return np.concatenate([self._old.vectors(int(run[0]), int(run[-1]) + 1) for run in runs])

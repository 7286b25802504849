"""An encoder that takes vectors from an index, so that an update of it embeds only what has changed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import Errors, PelError
from ..types import Encoder, Rows, VectorIndex, Vectors
from .entity_index import EntityIndex
from .row_encoder import Encode, RowEncoder
from .row_table import RowTable, hash_texts


class ReusingEncoder(RowEncoder):
    """An encoder that takes vectors from an index where that has a row for the same text, and computes the
    others. An index built with it is the same as one built with the encoder alone.

    Args:
        encoder: computes the vectors.
        old: built with the same encoder.
        into: the kind of index that is to be built.

    Raises:
        PelError: if the index was built with another encoder, does not know what its rows stand for, or
            does not hold the vectors as precisely as ``into`` needs them.
    """

    def __init__(self, encoder: Encoder, old: EntityIndex, into: VectorIndex):
        super().__init__(encoder)
        check_reusable(old)
        old.check_built_for(None, encoder)
        if old.rows.texts is None:
            raise PelError(Errors.E415.format(path=old.path))
        kept = _precision(old.vectors)
        if kept != "fp32" and kept != _precision(into):
            raise _too_coarse(old)
        self._old = old.vectors
        self._row_of = np.argsort(old.rows.texts, kind="stable")
        self._texts = old.rows.texts[self._row_of]
        self._live = old.rows.texts[old.rows.live]

    def encode_rows(self, kind: str, items: Sequence[Any], encode: Encode, show_progress: bool) -> Vectors:
        """(n, width), from the index where it has them."""
        wanted = hash_texts(kind, items)
        spots = np.minimum(np.searchsorted(self._texts, wanted), len(self._texts) - 1)
        known = self._texts[spots] == wanted
        vectors = np.empty((len(items), self.width), dtype=np.float32)
        if known.any():
            rows, back = np.unique(self._row_of[spots[known]], return_inverse=True)
            vectors[known] = self._vectors_of(rows)[back]
        if not known.all():
            new = np.flatnonzero(~known)
            vectors[new] = encode([items[number] for number in new.tolist()], show_progress=show_progress)
        return vectors

    def counts(self, built: RowTable) -> dict[str, int]:
        """Compare the rows of the index that was built with those of the old one.

        Args:
            built: its rows.

        Returns:
            Rows whose vectors were "reused" and "embedded", and rows of the old index
            that the new one has no use for, "dropped".
        """
        texts = np.empty(0, np.uint64) if built.texts is None else built.texts
        reused = int(np.isin(texts, self._texts).sum())
        dropped = int((~np.isin(self._live, texts)).sum())
        return {"reused": reused, "embedded": len(texts) - reused, "dropped": dropped}

    def _vectors_of(self, rows: Rows) -> Vectors:
        """Args:
        rows: ascending; rows that follow each other are read at once.
        """
        runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
        return np.concatenate([self._old.vectors(int(run[0]), int(run[-1]) + 1) for run in runs])


def check_reusable(old: EntityIndex) -> None:
    """Raises:
    PelError: if an update cannot use its vectors, since they are compressed or rotated.
    """
    if _precision(old.vectors) is None:
        raise _too_coarse(old)


def _too_coarse(old: EntityIndex) -> PelError:
    got = ", ".join(f"{key} {value}" for key, value in old.vectors.settings.items() if value is not None)
    return PelError(Errors.E416.format(path=old.path, got=f"{old.vectors.name} with {got}"))


def _precision(index: VectorIndex) -> Any:
    # not in the protocol: an index of another package may lack it
    return getattr(index, "precision", None)

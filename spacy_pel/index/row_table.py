"""The entity and the kind of each row of the vector index."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..util import hash_strings
from ..util.arrow_files import read_arrays, write_arrays

KINDS = ("card", "alias", "mention", "form")  # a kind is stored as its index in this tuple
NAME_KINDS = ("card", "alias")  # of the knowledge base
TEXT_KINDS = ("mention", "form")  # of annotated text
SEED = 0  # of all draws: the same input gives the same index
_FILE, _TEXTS = "rows.arrow", "texts.arrow"


def hash_texts(kind: str, items: Sequence[Any]) -> NDArray[np.uint64]:
    """Hash what rows stand for: all that an encoder may read of it.

    Args:
        kind: of the rows; a form has the vector of a name, so its kind is "alias".
        items: entities, names or mentions.

    Returns:
        One hash per item. In ten million of them, two that differ share a hash with
        a probability of 3 in a million.
    """
    return hash_strings([f"{kind} {item!r}" for item in items])


@dataclass
class RowTable:
    """Columns over the rows of a vector index.

    Attributes:
        kb_rows: the entity's row in the knowledge base.
        kinds: 0 = card, 1 = alias, 2 = mention, 3 = form.
        live: False = replaced or retired, no longer found.
        texts: a hash of what each row stands for, see ``hash_texts``; zeros in a table that was saved without.
    """

    kb_rows: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    live: NDArray[np.bool_]
    texts: NDArray[np.uint64]
    _masks: dict[frozenset[str], NDArray[np.bool_]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def empty(cls) -> "RowTable":
        """Without rows."""
        return cls(np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0, np.bool_), np.empty(0, np.uint64))

    def __len__(self) -> int:
        return len(self.kb_rows)

    def append(self, kb_rows: NDArray[np.int64], kind: str, texts: NDArray[np.uint64]) -> None:
        """Add live rows of one kind at the end.

        Args:
            kb_rows: the entity of each.
            kind: their kind.
            texts: hashes of what they stand for.
        """
        kinds = np.full(len(kb_rows), KINDS.index(kind), dtype=np.uint8)
        self.kb_rows = np.concatenate([self.kb_rows, kb_rows.astype(np.int32)])
        self.kinds = np.concatenate([self.kinds, kinds])
        self.live = np.concatenate([self.live, np.ones(len(kb_rows), dtype=np.bool_)])
        self.texts = np.concatenate([self.texts, texts])
        self._masks = {}

    def redirect(self, successors: NDArray[np.int32]) -> None:
        """Give rows of annotated text to other entities.

        Args:
            successors: for each row of the knowledge base the entity that gets what was said of it.
        """
        self.kb_rows = np.where(self._of_kinds(TEXT_KINDS), successors[self.kb_rows], self.kb_rows)

    def retire(self, kb_rows: NDArray[np.int64], kinds: Collection[str] = KINDS) -> None:
        """Mask the rows of these entities and kinds."""
        self.live = self.live & ~(np.isin(self.kb_rows, kb_rows) & self._of_kinds(kinds))
        self._masks = {}

    def mask(
        self, kinds: Collection[str] = KINDS, allowed: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_] | None:
        """Which rows may be found?

        Args:
            kinds: kinds wanted.
            allowed: mask over the rows of the knowledge base.

        Returns:
            Mask over the rows of the index; None = all of them. Read-only.
        """
        mask = self._masks.get(frozenset(kinds))
        if mask is None:
            mask = self.live & self._of_kinds(kinds)
            mask.flags.writeable = False
            self._masks[frozenset(kinds)] = mask
        if allowed is not None:
            mask = mask & allowed[self.kb_rows]
        return None if mask.all() else mask

    @property
    def searched_apart(self) -> NDArray[np.uint8]:
        """0 for names and forms, 1 for mentions: a linker searches them apart."""
        return self._of_kinds(("mention",)).astype(np.uint8)

    def count(self, kind: str) -> int:
        """Live rows of a kind."""
        return int((self.live & self._of_kinds((kind,))).sum())

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns by name, as they are stored; without ``texts``."""
        return {"kb_row": self.kb_rows, "kind": self.kinds, "live": self.live.view(np.uint8)}

    def to_disk(self, path: Path, *, with_texts: bool) -> None:
        """Write the columns to a folder; ``texts`` only where vectors of these rows can be used again."""
        write_arrays(Path(path) / _FILE, self.columns())
        if with_texts:
            write_arrays(Path(path) / _TEXTS, {"text": self.texts})

    @classmethod
    def from_disk(cls, path: Path) -> "RowTable":
        """Map the columns of a folder into memory.

        Raises:
            ValueError: if a file is damaged.
        """
        columns = map_arrays(Path(path) / _FILE)
        if (Path(path) / _TEXTS).is_file():
            texts = map_arrays(Path(path) / _TEXTS)["text"]
        else:
            texts = np.zeros(len(columns["live"]), dtype=np.uint64)
        if len(texts) != len(columns["live"]):
            raise ValueError(f"{len(texts)} texts of {len(columns['live'])} rows")
        return cls(columns["kb_row"], columns["kind"], columns["live"].view(np.bool_), texts)

    def _of_kinds(self, kinds: Collection[str]) -> NDArray[np.bool_]:
        if set(kinds) >= set(KINDS):
            return np.ones(len(self), dtype=np.bool_)
        return np.isin(self.kinds, [KINDS.index(kind) for kind in kinds])


def map_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an Arrow file, memory-mapped."""
    return read_arrays(pa.memory_map(str(path)).read_buffer())


def sample_rows(rows: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """At most ``limit`` of the rows, drawn at random, in order."""
    if len(rows) <= limit:
        return rows
    return np.sort(np.random.default_rng(SEED).choice(rows, size=limit, replace=False))

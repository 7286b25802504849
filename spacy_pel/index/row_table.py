"""The entity and the kind of each row of the vector index."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Collection, Dict, FrozenSet, Optional

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kb.store.arrow_files import read_arrays, write_arrays

KINDS = ("card", "alias", "mention")  # a kind is stored as its index in this tuple
NAME_KINDS = ("card", "alias")
_FILE = "rows.arrow"


@dataclass
class RowTable:
    """Columns over the rows of a vector index.

    kb_rows (NDArray[int32]): the entity's row in the knowledge base.
    kinds (NDArray[uint8]): 0 = card, 1 = alias, 2 = mention.
    live (NDArray[bool]): False = replaced or retired, no longer found.
    """

    kb_rows: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    live: NDArray[np.bool_]
    _masks: Dict[FrozenSet[str], NDArray[np.bool_]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def empty(cls) -> "RowTable":
        """RETURNS (RowTable): without rows."""
        return cls(np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0, np.bool_))

    def __len__(self) -> int:
        return len(self.kb_rows)

    def append(self, kb_rows: NDArray[np.int64], kind: str) -> None:
        """Add live rows of one kind at the end."""
        kinds = np.full(len(kb_rows), KINDS.index(kind), dtype=np.uint8)
        self.kb_rows = np.concatenate([self.kb_rows, kb_rows.astype(np.int32)])
        self.kinds = np.concatenate([self.kinds, kinds])
        self.live = np.concatenate([self.live, np.ones(len(kb_rows), dtype=np.bool_)])
        self._masks = {}

    def retire(self, kb_rows: NDArray[np.int64], kinds: Collection[str] = KINDS) -> None:
        """Mask the rows of these entities and kinds."""
        self.live = self.live & ~(np.isin(self.kb_rows, kb_rows) & self._of_kinds(kinds))
        self._masks = {}

    def mask(
        self, kinds: Collection[str] = KINDS, allowed: Optional[NDArray[np.bool_]] = None
    ) -> Optional[NDArray[np.bool_]]:
        """Which rows may be found?

        kinds (Collection[str]): kinds wanted.
        allowed (Optional[NDArray[bool]]): mask over the rows of the knowledge base.
        RETURNS (Optional[NDArray[bool]]): mask over the rows of the index; None = all of them. Read-only and
            the same object each time, unless ``allowed`` is given.
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
        """RETURNS (NDArray[uint8]): 0 for names, 1 for mentions: a linker searches them apart."""
        return self._of_kinds(("mention",)).astype(np.uint8)

    def count(self, kind: str) -> int:
        """RETURNS (int): live rows of a kind."""
        return int((self.live & self._of_kinds((kind,))).sum())

    def columns(self) -> Dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, NDArray]): the columns by name, as they are stored."""
        return {"kb_row": self.kb_rows, "kind": self.kinds, "live": self.live.view(np.uint8)}

    def to_disk(self, path: Path) -> None:
        """Write the columns to a folder."""
        write_arrays(Path(path) / _FILE, self.columns())

    @classmethod
    def from_disk(cls, path: Path) -> "RowTable":
        """Map the columns of a folder into memory."""
        columns = read_arrays(pa.memory_map(str(Path(path) / _FILE)).read_buffer())
        return cls(columns["kb_row"], columns["kind"], columns["live"].view(np.bool_))

    def _of_kinds(self, kinds: Collection[str]) -> NDArray[np.bool_]:
        if set(kinds) >= set(KINDS):
            return np.ones(len(self), dtype=np.bool_)
        return np.isin(self.kinds, [KINDS.index(kind) for kind in kinds])

"""Unsaved changes to a knowledge base, in memory."""

from collections.abc import Sequence

import numpy as np

from ...types import Entity
from ...util import normalize_alias
from .arrow_files import Rows
from .edits import Edit


class Overlay:
    """What was added, changed or retired since the store was opened.

    Args:
        rows: row -> its current entity, and whether it is live.
        ids: rows beyond the end of the store, by id.
        redirects: retired id -> successor; None = none any more.
        edits: all of them; None = as stored.
    """

    def __init__(self) -> None:
        self.rows: dict[int, tuple[Entity, bool]] = {}
        self.ids: dict[str, int] = {}
        self.redirects: dict[str, str | None] = {}
        self.edits: dict[str, Edit] | None = None
        self._names: dict[str, dict[int, None]] = {}  # normalised name -> rows
        self._keys: dict[int, list[str]] = {}  # row -> its normalised names

    def __bool__(self) -> bool:
        return bool(self.rows or self.redirects) or self.edits is not None

    def put(self, row: int, entity: Entity, *, live: bool) -> None:
        """Set what a row holds from now on."""
        for name in self._keys.get(row, ()):
            del self._names[name][row]
        self.rows[row] = (entity, live)
        names = (entity.canonical_name, *entity.aliases) if live else ()
        self._keys[row] = list(dict.fromkeys(map(normalize_alias, names)))
        for name in self._keys[row]:
            self._names.setdefault(name, {})[row] = None

    def names_of(self, row: int) -> list[str]:
        """The distinct normalised names of a row that was put; none if it is retired."""
        return self._keys[row]

    def merge_names(self, names: Sequence[str], found: list[Rows]) -> list[Rows]:
        """Apply the changes to look-ups in the store.

        Args:
            names: normalised names.
            found: the store's rows for each.

        Returns:
            The rows that have each name now, ascending.
        """
        merged = []
        for name, rows in zip(names, found, strict=True):
            own = self._names.get(name, ())
            kept = [row for row in rows.tolist() if row not in self.rows]
            if own or len(kept) < len(rows):
                rows = np.array(sorted([*kept, *own]), dtype=np.int64)
            merged.append(rows)
        return merged

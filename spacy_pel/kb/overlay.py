"""Unsaved changes to a knowledge base, in memory."""

from collections.abc import Sequence

import numpy as np

from ..types import Entity, Rows
from ..util import normalize_alias
from .edits import Edit


class Overlay:
    """What was added, changed or retired since the store was opened.

    Attributes:
        rows: row -> its current entity, and whether it is live.
        new_rows: rows beyond the end of the store, by id.
        redirects: retired id -> successor; None = no longer redirected.
        edits: all edits; None = as stored.
    """

    def __init__(self) -> None:
        self.rows: dict[int, tuple[Entity, bool]] = {}
        self.new_rows: dict[str, int] = {}
        self.redirects: dict[str, str | None] = {}
        self.edits: dict[str, Edit] | None = None
        self.names: dict[int, list[str]] = {}  # changed row -> its distinct normalised names; none if it is retired
        self._rows_by_name: dict[str, dict[int, None]] = {}

    def __bool__(self) -> bool:
        return bool(self.rows or self.redirects) or self.edits is not None

    def put(self, row: int, entity: Entity, *, live: bool) -> None:
        """Set what a row holds from now on."""
        for name in self.names.get(row, ()):
            del self._rows_by_name[name][row]
        self.rows[row] = (entity, live)
        names = (entity.canonical_name, *entity.aliases) if live else ()
        self.names[row] = list(dict.fromkeys(map(normalize_alias, names)))
        for name in self.names[row]:
            self._rows_by_name.setdefault(name, {})[row] = None

    def merge_names(self, names: Sequence[str], stored: list[Rows]) -> list[Rows]:
        """Apply the changes to look-ups in the store.

        Args:
            names: normalised names.
            stored: the store's rows for each name.

        Returns:
            The rows that have each name now, ascending.
        """
        merged = []
        for name, rows in zip(names, stored, strict=True):
            changed = self._rows_by_name.get(name, ())
            unchanged = [row for row in rows.tolist() if row not in self.rows]
            if changed or len(unchanged) < len(rows):
                rows = np.array(sorted([*unchanged, *changed]), dtype=np.int64)
            merged.append(rows)
        return merged

"""Unsaved changes to a knowledge base, in memory."""

from collections.abc import Sequence

import numpy as np

from ..types import Entity, Rows
from ..util import normalize_alias
from ..util.xrefs import xref_key
from .edits import Edit

_RowsByText = dict[str, dict[int, None]]


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
        self._rows_by_name: _RowsByText = {}
        self._rows_by_xref: _RowsByText = {}

    def __bool__(self) -> bool:
        return bool(self.rows or self.redirects) or self.edits is not None

    def put(self, row: int, entity: Entity, *, live: bool) -> None:
        """Set what a row holds from now on."""
        for name in self.names.get(row, ()):
            del self._rows_by_name[name][row]
        for key in self._xref_keys(row):
            del self._rows_by_xref[key][row]
        self.rows[row] = (entity, live)
        names = (entity.canonical_name, *entity.aliases) if live else ()
        self.names[row] = list(dict.fromkeys(map(normalize_alias, names)))
        for name in self.names[row]:
            self._rows_by_name.setdefault(name, {})[row] = None
        for key in self._xref_keys(row):
            self._rows_by_xref.setdefault(key, {})[row] = None

    def _xref_keys(self, row: int) -> set[str]:
        entity, live = self.rows.get(row, (None, False))
        return set(map(xref_key, entity.xrefs)) if entity is not None and live else set()

    def merge_names(self, names: Sequence[str], stored: list[Rows]) -> list[Rows]:
        """Apply the changes to look-ups of normalised names in the store, whose rows are given for each name."""
        return self._merged(names, stored, self._rows_by_name)

    def merge_xrefs(self, keys: Sequence[str], stored: list[Rows]) -> list[Rows]:
        """The same for cross references, by their keys."""
        return self._merged(keys, stored, self._rows_by_xref)

    def _merged(self, texts: Sequence[str], stored: list[Rows], rows_by_text: _RowsByText) -> list[Rows]:
        """The rows that have each text now, ascending."""
        merged = []
        for text, rows in zip(texts, stored, strict=True):
            changed = rows_by_text.get(text, ())
            unchanged = [row for row in rows.tolist() if row not in self.rows]
            if changed or len(unchanged) < len(rows):
                rows = np.array(sorted([*unchanged, *changed]), dtype=np.int64)
            merged.append(rows)
        return merged

"""Unsaved changes to a knowledge base, in memory."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from ..types import Entity, Rows
from ..util import normalize_alias
from ..util.xrefs import xref_key
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
        self._rows_by: dict[str, dict[str, dict[int, None]]] = {"name": {}, "xref": {}}

    def __bool__(self) -> bool:
        return bool(self.rows or self.redirects) or self.edits is not None

    def put(self, row: int, entity: Entity, *, live: bool) -> None:
        """Set what a row holds from now on."""
        for look_up, text in self._texts(row):
            del self._rows_by[look_up][text][row]
        self.rows[row] = (entity, live)
        names = (entity.canonical_name, *entity.aliases) if live else ()
        self.names[row] = list(dict.fromkeys(map(normalize_alias, names)))
        for look_up, text in self._texts(row):
            self._rows_by[look_up].setdefault(text, {})[row] = None

    def _texts(self, row: int) -> Iterator[tuple[str, str]]:
        """By which look-ups a row is found, and by what."""
        entity, live = self.rows.get(row, (None, False))
        yield from (("name", name) for name in self.names.get(row, ()))
        yield from (("xref", key) for key in set(map(xref_key, entity.xrefs if entity is not None and live else ())))

    def merge(self, look_up: Literal["name", "xref"], texts: Sequence[str], stored: list[Rows]) -> list[Rows]:
        """Apply the changes to look-ups in the store.

        Args:
            look_up: by normalised names, or by keys of cross references.
            texts: these names or keys.
            stored: the store's rows for each.

        Returns:
            The rows that have each text now, ascending.
        """
        merged = []
        for text, rows in zip(texts, stored, strict=True):
            changed = self._rows_by[look_up].get(text, ())
            unchanged = [row for row in rows.tolist() if row not in self.rows]
            if changed or len(unchanged) < len(rows):
                rows = np.array(sorted([*unchanged, *changed]), dtype=np.int64)
            merged.append(rows)
        return merged

"""Entities from JSON lines as scispaCy writes them: the interchange format of knowledge bases."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import quoted
from ...registry import registry
from ...types import Entity
from ...util.files import json_object
from .fields import FIELDS, field_meant
from .reader_base import KBReaderBase, Place

_LISTS = ("aliases", "types")


@registry.pel_kb_readers("spacy-pel.JsonlKB.v1")
class JsonlKB(KBReaderBase):
    """Reads ``{"concept_id", "canonical_name", "aliases", "types", "definition"}``, one per line.

    The first two keys must be there. A key that is not one of these is left out and counted
    as ``unknown_key``; a warning names these keys.

    Attributes:
        types: keep entities with any of these types.
        id_prefix: keep entities whose id starts with this.
        strict: turn repairs into errors.
    """

    one_line_per_id = True
    about = {"origin": "JSON lines", "version": "", "licence": "as its maker states it"}

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The lines' entities."""
        for path in paths:
            for place, line in self.lines(path):
                if line.strip():
                    yield place, self.parse(place, line)

    def parse(self, place: Place, line: str) -> Entity:
        """Of one line. RAISES (PelError): if the line is not an entity; names the place."""
        record = json_object(line, place)
        if not {"concept_id", "canonical_name"} <= record.keys():
            self.fail(
                place,
                expected='{"concept_id", "canonical_name", …}',
                got=f"the keys {quoted(list(record))}",
                todo="Write the keys of scispaCy's format.",
            )
        unknown = [key for key in record if key not in FIELDS]
        if unknown:
            for key in (key for key in unknown if key not in self._unread):  # most lines have the same keys
                unused = [field for field in FIELDS if field not in record]
                self.leave_unread(place, key, field_meant(key, unused)[1])
            self.repair("unknown_key", place, f"unknown keys: {', '.join(unknown)}")
        fields = {key: record[key] for key in FIELDS if record.get(key) is not None}
        self._check_values(place, fields)
        return Entity(**{"concept_id": "", "canonical_name": "", **fields})

    def _check_values(self, place: Place, fields: dict[str, Any]) -> None:
        for key, value in fields.items():
            if key in _LISTS:
                fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
            else:
                fits = isinstance(value, str)
            if not fits:
                wanted = "a list of strings" if key in _LISTS else "a string"
                self.fail(place, expected=f"{wanted} as {key}", got=quoted(value), todo="Fix the line.")

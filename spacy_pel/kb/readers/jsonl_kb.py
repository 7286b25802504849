"""Entities from JSON lines as scispaCy writes them, the interchange format of knowledge bases, and from KB folders."""

from collections.abc import Iterator, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any

from ...errors import quoted
from ...registry import registry
from ...types import Entity
from ...util.files import Place, unexpected
from ..knowledge_base import KnowledgeBase
from .csv_kb import FIELD_OF, FIELDS, LISTS, says_unused, unused_values
from .reader_base import KBReaderBase


@registry.pel_kb_readers("spacy-pel.JsonlKB.v1")
class JsonlKB(KBReaderBase):
    """Reads ``{"concept_id", "canonical_name", "aliases", "types", "definition", "xrefs", "parents"}``, one per line,
    or in one array.

    The first two must be there. Keys may have the common names that columns of tables may have, such as "cui",
    "name" and "synonyms". Another key is left out and counted as ``unknown_key``; a warning names these keys. In a
    file of changes a line may retire an id instead, see ``read_changes``.

    Args:
        types: keep entities with any of these types.
        id_prefix: keep entities whose id starts with this.
        strict: turn repairs into errors.
    """

    one_line_per_id = True
    is_release = False

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The lines' entities."""
        for path in paths:
            for place, record in self.records(path):
                if self.notes_obsolete and record.get("retired") is True:
                    self._note_retired(place, record)
                elif any(starmap(says_unused, record.items())):
                    self.report["invalid"] = self.report.get("invalid", 0) + 1
                    self.note_obsolete(self._entity_of(place, record).concept_id)
                else:
                    yield place, self._entity_of(place, record)

    def _note_retired(self, place: Place, record: dict[str, Any]) -> None:
        entity_id, successor = record.get("concept_id"), record.get("successor")
        if not isinstance(entity_id, str) or not isinstance(successor, (str, type(None))):
            expected = '{"concept_id": "…", "retired": true, "successor": "…" or null}'
            raise unexpected(place, expected, quoted(record))
        if self.retired.setdefault(entity_id, successor) != successor:
            raise unexpected(place, f"one successor of {quoted(entity_id)}", quoted(record))
        self.places[entity_id] = place

    def _entity_of(self, place: Place, record: dict[str, Any]) -> Entity:
        """The entity in a line.

        Raises:
            PelError: if the line is not an entity; names the place.
        """
        keys = {FIELD_OF[key]: key for key in record if key in FIELD_OF}
        keys.update((key, key) for key in FIELDS if key in record)  # a field's own name comes before others
        if not {"concept_id", "canonical_name"} <= keys.keys():
            expected, got = '{"concept_id", "canonical_name", …}', f"the keys {quoted(list(record))}"
            raise unexpected(place, expected, got, "Write the keys of scispaCy's format.")
        if len(keys) < len(record):
            unknown = [key for key in record if keys.get(FIELD_OF.get(key, "")) != key and not unused_values(key)]
            for key in (key for key in unknown if key not in self._unread):  # most lines have the same keys
                self.leave_unread(place, key)
            if unknown:
                self.repair("unknown_key", place, f"unknown keys: {', '.join(unknown)}")
        fields = {field: record[key] for field, key in keys.items() if record[key] is not None}
        if type(fields.get("concept_id")) is int:
            fields["concept_id"] = str(fields["concept_id"])
        for field, value in fields.items():
            key = keys[field]
            if field in LISTS and isinstance(value, str) and not key.endswith("s"):  # {"type": "drug"}
                fields[field] = value = [value]
            texts, wanted = (value, "a list of strings") if field in LISTS else ([value], "a string")
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise unexpected(place, f"{wanted} as {key}", quoted(value))
        return Entity(**{"concept_id": "", "canonical_name": "", **fields})


@registry.pel_kb_readers("spacy-pel.SavedKB.v1")
class SavedKB(KBReaderBase):
    """Reads KB folders: the entities that are not retired, with the redirects of the others.

    Args:
        types: keep entities with any of these types.
        id_prefix: keep entities whose id starts with this.
        strict: turn repairs into errors.
    """

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        for path in paths:
            kb = KnowledgeBase.from_disk(path)
            about = kb.source
            self.source.update(name=about.get("name") or about.get("origin") or path.name, sources=kb.sources)
            redirects = kb.redirects()
            self.redirects.update(redirects)
            for entity, live in kb.items():
                if live:
                    yield Place(path), entity
                elif entity.concept_id not in redirects:
                    self.note_obsolete(entity.concept_id)

"""Entities from JSON lines as scispaCy writes them: the interchange format of knowledge bases."""

import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ...registry import registry
from ...types import Entity
from .reader_base import KBReaderBase, Place

_LISTS = ("aliases", "types")
_KEYS = ("concept_id", "canonical_name", *_LISTS, "definition")


@registry.pel_kb_readers("spacy-pel.JsonlKB.v1")
def make_jsonl_kb(
    *, types: Optional[List[str]] = None, id_prefix: str = "", strict: bool = False
) -> "JsonlKB":
    """Build a reader of JSON lines.

    types (Optional[List[str]]): keep entities with any of these types.
    id_prefix (str): keep entities whose id starts so.
    strict (bool): turn repairs into errors.
    """
    return JsonlKB(types=types, id_prefix=id_prefix, strict=strict)


class JsonlKB(KBReaderBase):
    """Reads ``{"concept_id", "canonical_name", "aliases", "types", "definition"}``, one a line.

    The first two keys must be there. A key that is not one of these is left out and counted
    as ``unknown_key``.
    """

    about = {"origin": "JSON lines", "version": "", "licence": "as its maker states it"}

    def read(self, paths: Sequence[Path]) -> Iterator[Tuple[Place, Entity]]:
        """YIELDS (Tuple[Place, Entity]): the lines' entities."""
        for path in paths:
            for place, line in self.lines(path):
                if line.strip():
                    yield place, self.parse(place, line)

    def parse(self, place: Place, line: str) -> Entity:
        """RETURNS (Entity): of one line. RAISES (PelError): if the line is no entity; names the place."""
        try:
            record = json.loads(line)
        except ValueError as err:
            self.fail(place, expected="a JSON object", got=f"invalid JSON ({err})", todo="Fix the line.")
        if not isinstance(record, dict) or not {"concept_id", "canonical_name"} <= record.keys():
            self.fail(
                place,
                expected='{"concept_id", "canonical_name", …}',
                got=_shape(record),
                todo="Write the keys of scispaCy's format.",
            )
        unknown = [key for key in record if key not in _KEYS]
        if unknown:
            self.repair("unknown_key", place, f"unknown keys: {', '.join(unknown)}")
        fields = {key: record[key] for key in _KEYS if record.get(key) is not None}
        self._check_values(place, fields)
        return Entity(**{"concept_id": "", "canonical_name": "", **fields})

    def _check_values(self, place: Place, fields: Dict[str, Any]) -> None:
        for key, value in fields.items():
            if key in _LISTS:
                fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
            else:
                fits = isinstance(value, str)
            if not fits:
                wanted = "a list of strings" if key in _LISTS else "a string"
                self.fail(place, expected=f"{wanted} as {key}", got=f"{value!r:.80}", todo="Fix the line.")


def _shape(record: Any) -> str:
    if isinstance(record, dict):
        return f"the keys {', '.join(map(repr, record)) or '(none)'}"
    return f"a {type(record).__name__}"

"""Entities from SNOMED CT, the files of Release Format 2 (RF2), and from LOINC's table of terms."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from sys import intern

from ...errors import Warnings
from ...registry import registry
from ...types import Entity
from ...util import Place, logger, read_rows
from .reader_base import KBReaderBase

_VERSION = ("effective_time", "active")
# kind of table -> columns that all versions of a row share, and those that a version has of its own
_COLUMNS = {
    "descriptions": (("id",), ("concept_id", "language_code", "type_id", "term")),
    "concepts": (("id",), ("definition_status_id",)),
    "preferences": (("refset_id", "referenced_component_id"), ("acceptability_id",)),
    "relationships": (("id",), ("source_id", "destination_id", "type_id", "characteristic_type_id")),
    "associations": (("refset_id", "referenced_component_id", "target_component_id"), ()),
}
_KINDS = {kind: (*_VERSION, *key, *content) for kind, (key, content) in _COLUMNS.items()}
_Cells = tuple[str, ...]
# time and content of the latest version; None = it is inactive
_Latest = dict[_Cells, tuple[str, _Cells | None]]
_FULL_NAME, _DEFINITION = "900000000000003001", "900000000000550004"
_PREFERRED = "900000000000548007"
_IS_A, _STATED = "116680003", "900000000000010007"
_SUCCESSORS = ("900000000000527005", "900000000000526001")  # SAME AS, REPLACED BY
_TAGGED = re.compile(r"(.*\S)\s*\(([^()]+)\)\s*")  # "Asthma (disorder)"
_LOINC_KINDS = {"terms": ("loinc_num", "long_common_name", "status"), "replacements": ("loinc", "map_to")}
# not RELATEDNAMES2, whose words belong to the parts of a term: "Blood", "Quantitative"; nor COMPONENT, which
# hundreds of terms share
_ALIASES = ("display_name", "shortname", "consumer_name")
_WITHDRAWN = ("DEPRECATED", "DISCOURAGED")


@registry.pel_kb_readers("spacy-pel.Rf2KB.v1")
@dataclass(kw_only=True, eq=False)
class Rf2KB(KBReaderBase):
    """Reads a folder such as Snapshot, or files: descriptions, and text definitions, concepts, relationships, language
    and association reference sets if they are passed too. Files are told apart by their columns. Of several
    versions of a component, as in the folder Full, the latest counts.

    * Ids: concepts. Inactive ones are left out, which needs the concept file.
    * Names: active descriptions. The first is the synonym that the language reference set prefers, else the
      fully specified name without its semantic tag.
    * Types: the semantic tag, e.g. "disorder".
    * Definition: the first text definition.
    * Parents: by inferred is-a relationships.
    * Redirects: SAME AS and REPLACED BY.

    Args:
        types: keep concepts with any of these semantic tags.
        id_prefix: keep concepts whose id starts with this.
        strict: turn repairs into errors.
        languages: keep names and definitions in these languages, e.g. ["en"]; None = all.
        refset: id of the language reference set whose preferred terms come first, before those of others;
            the default is US English, 900000000000508004 is GB English.
    """

    origin = "SNOMED CT"
    licence = "SNOMED CT Affiliate Licence: not to be passed on"

    languages: list[str] | None = None
    refset: str = "900000000000509007"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.asked["languages"] = {language: {language} for language in self.languages or ()}

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The concepts, in the order of their first descriptions."""
        latest = self._latest(paths)
        is_active = {key: content is not None for (key,), (_, content) in latest["concepts"].items()}
        if not is_active:
            logger.warning(Warnings.W145.format(paths=", ".join(map(str, paths))))
        for old in (concept for concept, active in is_active.items() if not active):
            self.note_obsolete(old)
        for (refset, old, new), (_, content) in latest["associations"].items():
            if content is not None and refset in _SUCCESSORS and not is_active.get(old, False):
                self.redirects.setdefault(old, new)
        rank: dict[str, int] = {}  # of preferred descriptions
        for (refset, description), (_, content) in latest["preferences"].items():
            if content == (_PREFERRED,):
                rank[description] = max(rank.get(description, 2), 3 if refset == self.refset else 2)
        parents: dict[str, dict[str, None]] = {}
        for _, content in latest["relationships"].values():
            if content is not None:
                parents.setdefault(content[0], {})[content[1]] = None
        concepts: dict[str, list[tuple[int, str, str, str]]] = {}
        for (key,), (_, content) in latest["descriptions"].items():
            if content and content[0] not in self.redirects and is_active.get(content[0], True):
                concept, language, kind, term = content
                concepts.setdefault(concept, []).append((rank.get(key, 0), language, kind, term))
        for concept, descriptions in concepts.items():
            self.has["languages"].update(language for _, language, _, _ in descriptions)
            for entity in self._entities(concept, descriptions):
                yield Place(paths[0]), replace(entity, parents=tuple(parents.get(concept, ())))

    def _latest(self, paths: Sequence[Path]) -> dict[str, _Latest]:
        """By kind of table."""
        latest: dict[str, _Latest] = {kind: {} for kind in _KINDS}
        for path in paths:
            for file in sorted(path.rglob("*.txt*")) if path.is_dir() else [path]:
                for kind, _, row in read_rows(file, self.numbered_lines(file), _KINDS, skip_others=path.is_dir()):
                    is_a = row.get("type_id") == _IS_A and row.get("characteristic_type_id") != _STATED
                    if kind == "relationships" and not is_a:  # most rows
                        continue
                    # ids are repeated in many rows: one copy of each
                    row = {name: intern(cell) if len(cell) < 20 else cell for name, cell in row.items()}
                    key, content = (tuple(row[name] for name in names) for names in _COLUMNS[kind])
                    time = row["effective_time"]
                    if key not in latest[kind] or latest[kind][key][0] <= time:
                        latest[kind][key] = time, content if row["active"] == "1" else None
                    self.source["version"] = max(self.source["version"], time)
        return latest

    def _entities(self, concept: str, descriptions: list[tuple[int, str, str, str]]) -> Iterator[Entity]:
        """One, or none if it has no name in the wanted languages."""
        kept = [row for row in descriptions if not self.languages or row[1] in self.languages]
        foreign = [row for row in descriptions if row not in kept]
        full_names = [term for _, _, kind, term in (*kept, *foreign) if kind == _FULL_NAME]
        tags = [match[2] for term in full_names if (match := _TAGGED.fullmatch(term))]
        definitions = [term for _, _, kind, term in kept if kind == _DEFINITION]
        names = [
            (1, _TAGGED.sub(r"\1", term)) if kind == _FULL_NAME else (rank, term)
            for rank, _, kind, term in kept
            if kind != _DEFINITION
        ]
        names.sort(key=itemgetter(0), reverse=True)  # stable: as in the file
        if names:
            name, *aliases = (term for _, term in names)
            yield Entity(concept, name, tuple(aliases), tuple(tags[:1]), next(iter(definitions), None))


@registry.pel_kb_readers("spacy-pel.LoincKB.v1")
class LoincKB(KBReaderBase):
    """Reads Loinc.csv or LoincTableCore.csv, and MapTo.csv if it is passed too.

    The name is LONG_COMMON_NAME; the aliases are DisplayName, SHORTNAME and CONSUMER_NAME; the type is CLASS.
    Deprecated and discouraged terms are left out; those with one replacement in MapTo.csv redirect to it.

    Attributes:
        types: keep terms of any of these classes, e.g. ["CHEM", "HEM/BC"].
        id_prefix: keep terms whose code starts with this.
        strict: turn repairs into errors.
    """

    origin = "LOINC, Regenstrief Institute"
    licence = "LOINC licence: free of charge; its notice has to be passed on"

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The terms."""
        withdrawn: list[str] = []
        replacements: dict[str, set[str]] = {}
        for path in paths:
            for kind, place, row in read_rows(path, self.numbered_lines(path), _LOINC_KINDS):
                if kind == "replacements":
                    replacements.setdefault(row["loinc"], set()).add(row["map_to"])
                elif row["status"].strip().upper() in _WITHDRAWN:
                    withdrawn.append(row["loinc_num"])
                else:
                    aliases = tuple(filter(None, (row.get(column) for column in _ALIASES)))
                    types = tuple(filter(None, [row.get("class")]))
                    definition = row.get("definition_description")
                    yield place, Entity(row["loinc_num"], row["long_common_name"], aliases, types, definition)
        for old in withdrawn:
            self.note_obsolete(old, *sorted(replacements.get(old, ())))
        self.redirects.update({old: new.pop() for old, new in replacements.items() if len(new) == 1})

"""Entities from SNOMED CT: the files of Release Format 2 (RF2)."""

import re
from operator import itemgetter
from pathlib import Path
from sys import intern
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ...errors import Warnings
from ...registry import registry
from ...types import Entity
from ...util import logger
from .reader_base import KBReaderBase, Place
from .release_tables import Row, release_rows

_MEMBER = ("effective_time", "active", "refset_id", "referenced_component_id")
_KINDS = {
    "descriptions": ("id", "effective_time", "active", "concept_id", "language_code", "type_id", "term"),
    "concepts": ("id", "effective_time", "active", "definition_status_id"),
    "preferences": (*_MEMBER, "acceptability_id"),
    "associations": (*_MEMBER, "target_component_id"),
}
_Latest = Dict[Any, Tuple[str, Any]]  # component -> time and content (None = inactive) of its latest version
_FULL_NAME, _DEFINITION = "900000000000003001", "900000000000550004"
_PREFERRED = "900000000000548007"
_SUCCESSORS = ("900000000000527005", "900000000000526001")  # SAME AS, REPLACED BY
_TAGGED = re.compile(r"(.*\S)\s*\(([^()]+)\)\s*")  # "Asthma (disorder)"


class _Description(NamedTuple):
    path: Path
    concept: str
    language: str
    kind: str
    term: str


@registry.pel_kb_readers("spacy-pel.Rf2KB.v1")
class Rf2KB(KBReaderBase):
    """Reads a folder such as Snapshot, or files: descriptions, and text definitions, concepts, language
    and association reference sets if they are passed too. Files are told apart by their columns. Of several
    versions of a component, as in the folder Full, the latest counts.

    * Ids: concepts. Inactive ones are left out, which needs the concept file.
    * Names: active descriptions. The first is the synonym that the language reference set prefers, else the
      fully specified name without its semantic tag.
    * Types: the semantic tag, e.g. "disorder".
    * Definition: the first text definition.
    * Redirects: SAME AS and REPLACED BY.

    types (Optional[List[str]]): keep concepts with any of these semantic tags.
    id_prefix (str): keep concepts whose id starts with this.
    strict (bool): turn repairs into errors.
    languages (Optional[List[str]]): keep names and definitions in these languages, e.g. ["en"]; None = all.
    refset (str): id of the language reference set whose preferred terms come first, before those of others;
        the default is US English, 900000000000508004 is GB English.
    """

    about = {
        "origin": "SNOMED CT",
        "version": "",
        "licence": "SNOMED CT Affiliate Licence: not to be passed on",
    }

    def __init__(
        self,
        *,
        types: Optional[List[str]] = None,
        id_prefix: str = "",
        strict: bool = False,
        languages: Optional[List[str]] = None,
        refset: str = "900000000000509007",
    ):
        super().__init__(types=types, id_prefix=id_prefix, strict=strict)
        self.asked["languages"] = {language: {language} for language in languages or ()}
        self.languages = frozenset(languages or ())
        self.refset = refset

    def read(self, paths: Sequence[Path]) -> Iterator[Tuple[Place, Entity]]:
        """YIELDS (Tuple[Place, Entity]): the concepts, in the order of their first descriptions."""
        latest = self._latest(paths)
        is_active = {key: content is not None for key, (_, content) in latest["concepts"].items()}
        if not is_active:
            logger.warning(Warnings.W145.format(paths=", ".join(map(str, paths))))
        for (refset, old, new), (_, content) in latest["associations"].items():
            if content is not None and refset in _SUCCESSORS and not is_active.get(old, False):
                self.redirects.setdefault(old, new)
        preferred: Dict[str, List[str]] = {}  # description -> language reference sets
        for (refset, description), (_, content) in latest["preferences"].items():
            if content == _PREFERRED:
                preferred.setdefault(description, []).append(refset)
        concepts: Dict[str, Dict[str, _Description]] = {}
        for key, (_, one) in latest["descriptions"].items():
            if one and one.concept not in self.redirects and is_active.get(one.concept, True):
                concepts.setdefault(one.concept, {})[key] = one
        for concept, descriptions in concepts.items():
            found = self._entity(concept, descriptions, preferred)
            if found is not None:
                yield Place(next(iter(descriptions.values())).path), found

    def _latest(self, paths: Sequence[Path]) -> Dict[str, _Latest]:
        """RETURNS (Dict[str, _Latest]): by kind of table."""
        latest: Dict[str, _Latest] = {kind: {} for kind in _KINDS}
        for path in paths:
            for file in sorted(path.rglob("*.txt*")) if path.is_dir() else [path]:
                for kind, place, row in release_rows(self, file, _KINDS, skip_others=path.is_dir()):
                    key, content = _component(kind, place, row)
                    time = intern(row["effective_time"])
                    if key not in latest[kind] or latest[kind][key][0] <= time:
                        latest[kind][key] = time, content if row["active"] == "1" else None
                    self.source["version"] = max(self.source["version"], time)
        return latest

    def _entity(
        self, concept: str, descriptions: Dict[str, _Description], preferred: Dict[str, List[str]]
    ) -> Optional[Entity]:
        """RETURNS (Optional[Entity]): None = it has no name in the wanted languages."""
        self.has["languages"].update(one.language for one in descriptions.values())
        wanted = {
            key: one
            for key, one in descriptions.items()
            if not self.languages or one.language in self.languages
        }
        full = [one for one in (*wanted.values(), *descriptions.values()) if one.kind == _FULL_NAME]
        tags = [found[2] for one in full if (found := _TAGGED.fullmatch(one.term))]
        definitions = [one.term for one in wanted.values() if one.kind == _DEFINITION]
        names: List[Tuple[int, str]] = []
        for key, one in wanted.items():
            if one.kind == _FULL_NAME:
                names.append((1, _TAGGED.sub(r"\1", one.term)))
            elif one.kind != _DEFINITION:
                refsets = preferred.get(key, [])
                names.append((3 if self.refset in refsets else 2 if refsets else 0, one.term))
        names.sort(key=itemgetter(0), reverse=True)  # stable: as in the file
        if not names:
            return None
        name, *aliases = [text for _, text in names]
        return Entity(concept, name, tuple(aliases), tuple(tags[:1]), next(iter(definitions), None))


def _component(kind: str, place: Place, row: Row) -> Tuple[Any, Any]:
    """RETURNS (Tuple[Any, Any]): what all versions of a component share, and the content of this one."""
    if kind == "descriptions":
        concept, language, type_id = map(intern, (row["concept_id"], row["language_code"], row["type_id"]))
        return row["id"], _Description(place.path, concept, language, type_id, row["term"])
    if kind == "concepts":
        return row["id"], True
    member = (intern(row["refset_id"]), row["referenced_component_id"])
    if kind == "preferences":
        return member, intern(row["acceptability_id"])
    return (*member, row["target_component_id"]), True

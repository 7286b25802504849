"""The sources of a knowledge base: what each gives, its version and licence, and whether that may be passed on.

``meta.json`` has the record of what the knowledge base was built from, and in it, under "added", the records of
sources that were added later. Of entities that not the build alone gave, an Origin says which sources have it and
what each says, so that the next release of a source replaces its own part, and no more.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Errors, PelError
from ..types import Entity
from .repair import merge_duplicates

BUILT = ""  # in place of a name: what the knowledge base was built from
_FIELDS = ("origin", "version", "licence", "files", "vocabularies", "added_on")
_URL = re.compile(r",? *(https?://[^\s),]+)")
_FORBIDS = re.compile(
    r"(?i)not (to )?be (passed|shared|(re)?distribut)|no[nt]?[- ](for )?(re)?distribut|internal use|proprietary"
    r"|confidential|all rights reserved|affiliate|metathesaurus|snomed|meddra|\b(umls|cpt|ama)\b"
)


@dataclass(frozen=True)
class Origin:
    """The sources of an entity.

    Attributes:
        parts: source -> what it says of the entity; None = everything, as it is the only one.
    """

    parts: dict[str, Entity | None]

    def with_part(
        self, whole: Entity | None, source: str, given: Entity | None, *, adds: bool = False
    ) -> tuple[Entity | None, "Origin"]:
        """The entity, None = no source has it, and its sources, after a change of one of them.

        Args:
            whole: the entity before.
            source: the one that changes.
            given: what it says now; None = it does not have the entity any more.
            adds: keep what it said before.
        """
        parts = {name: part or whole for name, part in self.parts.items()}
        if given is None:
            parts.pop(source, None)
        else:
            old = parts.get(source)
            parts[source] = merge_duplicates([old, given]) if adds and old else given
        entities = [part for part in parts.values() if part]
        after = merge_duplicates(entities) if entities else None
        return after, Origin(parts if len(parts) > 1 else dict.fromkeys(parts))


def listed(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sources in a record of meta.json, those of merges one by one.

    Returns:
        For each its "name", the number of "entities" that have names of it, and, as far as they are known, "origin",
        "version", "licence", "files", the date when it was added, and the names by vocabulary.
    """
    found = [one for inner in record.get("sources", ()) for one in listed(inner)]
    if not found and record:
        facts = {field: record[field] for field in _FIELDS if record.get(field)}
        n = record.get("entities", record.get("ids", 0))
        found = [{"name": record.get("name") or record.get("origin") or "unnamed", "entities": n, **facts}]
    found += [one for added in record.get("added", ()) for one in listed(added)]
    return list({(one["name"], one.get("version"), one.get("licence")): one for one in found}.values())


def source_line(source: Mapping[str, Any]) -> str:
    """What ``listed`` says of a source, but for its name."""
    licence = source.get("licence") or "licence not known"
    n = source["entities"]
    facts = (f"{n:,} entit{'y' if n == 1 else 'ies'}", source.get("version"), licence, source.get("added_on"))
    return ", ".join(filter(None, facts))


def check_may_be_passed_on(sources: Collection[Mapping[str, Any]], allowed: Collection[str] = ()) -> None:
    """Check the licences of sources.

    Args:
        sources: from ``listed``.
        allowed: names of those without a known licence that may be passed on all the same.

    Raises:
        PelError: if a licence forbids it, or is not known; names these sources.
    """
    kept = [
        f"{one['name']} ({source_line(one)})"
        for one in sources
        if _FORBIDS.search(one.get("licence", "")) or not (one.get("licence") or one["name"] in allowed)
    ]
    if kept:
        raise PelError(Errors.E147.format(sources="; ".join(kept)))


def pipeline_entries(sources: Collection[Mapping[str, Any]], component: str) -> list[dict[str, str]]:
    """The sources as spaCy's meta.json lists them.

    Args:
        sources: from ``listed``.
        component: the component with the knowledge base, by which its entries are found again.
    """
    entries = []
    for one in sources:
        origin = one.get("origin") or one["name"]
        name = ", ".join(filter(None, (_URL.sub("", origin), one.get("version"), f"{one['entities']:,} entities")))
        url = {"url": found[1]} if (found := _URL.search(origin)) else {}
        licence = one.get("licence") or "not known"
        entries.append({"name": name, **url, "license": licence, "component": component})
    return entries


def not_of(components: Collection[str] | None, entries: Any) -> list[Any]:
    """The sources in spaCy's meta.json that ``pipeline_entries`` did not write for these components; None = for any."""

    def is_own(one: Any) -> bool:
        return isinstance(one, dict) and "component" in one and (components is None or one["component"] in components)

    return [one for one in entries or () if not is_own(one)]

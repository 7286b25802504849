"""What a merge collects about one id before it becomes an entity."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...ontologies import clean_text
from ...types import Entity


@dataclass
class MergeRecord:
    """One id's names, definition and origin, from all sources so far.

    Attributes:
        named: casefolded name -> the name, and the source that gave it first; the first is the canonical name.
        types: strong types in order.
        weak_types: those of the first source that has any; they are used where there are no strong ones.
        xrefs: cross references in order -> whether a sure source gave it: not an ontology of another vocabulary.
        parents: ids of broader entities; they may be retired, or lacking.
        term_ids: the source terms that point to this id.
        sources: the sources that name it.
        curated: the sources that name it by a curated mapping file.
    """

    named: dict[str, tuple[str, str]] = field(default_factory=dict)
    definition: str | None = None
    types: dict[str, None] = field(default_factory=dict)
    weak_types: dict[str, None] = field(default_factory=dict)
    xrefs: dict[str, bool] = field(default_factory=dict)
    parents: dict[str, None] = field(default_factory=dict)
    term_ids: dict[str, None] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)
    curated: set[str] = field(default_factory=set)

    @property
    def names(self) -> list[str]:
        """In order of arrival."""
        return [name for name, _ in self.named.values()]

    def add_name(self, name: str, source: str = "") -> bool:
        """Whether the name was new."""
        name = clean_text(name)
        n_before = len(self.named)
        if name:
            self.named.setdefault(name.casefold(), (name, source))
        return len(self.named) > n_before

    def add_definition(self, definition: str | None) -> None:
        """Take the definition if there is none yet."""
        if self.definition is None and definition:
            self.definition = clean_text(definition) or None

    def add_types(self, names: Iterable[str], *, weak: bool) -> None:
        """Take the types; weak ones only if there are none yet, as ontologies that disagree are not both right."""
        if not (weak and self.weak_types):
            (self.weak_types if weak else self.types).update((name, None) for name in names if name)

    def add_xref(self, xref: str, *, own: bool) -> None:
        """Take a cross reference; ``own``: it is sure."""
        self.xrefs[xref] = own or self.xrefs.get(xref, False)

    def take_over(self, other: "MergeRecord") -> None:
        """Take over the content of a retired record."""
        for folded, name in other.named.items():
            self.named.setdefault(folded, name)
        self.add_definition(other.definition)
        self.add_types(other.weak_types, weak=True)
        for xref, own in other.xrefs.items():
            self.add_xref(xref, own=own)
        for kept in ("types", "parents", "term_ids"):
            getattr(self, kept).update(getattr(other, kept))
        self.sources |= other.sources
        self.curated |= other.curated

    def entity(self, entity_id: str) -> Entity:
        """The record as an entity of the knowledge base."""
        name, *aliases = self.names
        types = tuple(self.types or self.weak_types)
        return Entity(entity_id, name, tuple(aliases), types, self.definition, tuple(self.xrefs), tuple(self.parents))

"""What a merge collects about one id before it becomes an entity."""

from dataclasses import dataclass, field

from ...types import Entity
from ..readers.ontology import clean_text


@dataclass
class MergeRecord:
    """One id's names, definition and origin, from all sources so far.

    Attributes:
        names: in order of arrival, the first is the canonical name; names that
            differ in case only count as one.
        named_by: for each of these names, the source that gave it first.
        types: strong types; weak_types are used where there are none.
        term_ids: the source terms that point to this id.
        sources: the sources that name it.
        curated: the sources that name it by a curated mapping file.
    """

    names: list[str] = field(default_factory=list)
    named_by: list[str] = field(default_factory=list)
    definition: str | None = None
    types: list[str] = field(default_factory=list)
    weak_types: list[str] = field(default_factory=list)
    term_ids: dict[str, None] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)
    curated: set[str] = field(default_factory=set)
    _folded: set[str] = field(default_factory=set)
    _types: set[tuple[bool, str]] = field(default_factory=set)

    def add_name(self, name: str, source: str = "") -> bool:
        """Whether the name was new."""
        name = clean_text(name)
        folded = name.casefold()
        if not name or folded in self._folded:
            return False
        self._folded.add(folded)
        self.names.append(name)
        self.named_by.append(source)
        return True

    def add_definition(self, definition: str | None) -> None:
        """Take the definition if there is none yet."""
        if self.definition is None and definition:
            self.definition = clean_text(definition) or None

    def add_type(self, name: str, *, weak: bool) -> None:
        """Take a type unless it is there already."""
        if name and (weak, name) not in self._types:
            self._types.add((weak, name))
            (self.weak_types if weak else self.types).append(name)

    def take_over(self, other: "MergeRecord") -> None:
        """Take over the content of a retired record."""
        for name, source in zip(other.names, other.named_by, strict=True):
            self.add_name(name, source)
        self.add_definition(other.definition)
        for name in other.types:
            self.add_type(name, weak=False)
        for name in other.weak_types:
            self.add_type(name, weak=True)
        self.term_ids.update(other.term_ids)
        self.sources |= other.sources
        self.curated |= other.curated

    def entity(self, entity_id: str) -> Entity:
        """The record as an entity of the knowledge base."""
        return Entity(
            entity_id, self.names[0], tuple(self.names[1:]), tuple(self.types or self.weak_types), self.definition
        )

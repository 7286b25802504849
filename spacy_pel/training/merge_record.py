"""What the sources of a merge say of one id."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..kb.repair import is_obsolete, without_markup, without_mojibake, without_tags
from ..ontologies import clean_text
from ..types import Entity
from ..util import normalize_alias
from ..util.xrefs import is_code, split_xref

_LOST = re.compile("[\ufffd\ue000-\uf8ff]")  # replaced, or of a font of symbols


def plain_name(text: str) -> str:
    """A name as it is meant; "" for numbers, for what nothing is called any longer, and where characters are lost."""
    text = clean_text(without_mojibake(without_markup(text)))
    text = (without_tags(text) or text).rstrip(";, ")
    is_lost = _LOST.search(text) is not None or not any(map(str.isalpha, text))
    return "" if is_lost or is_obsolete(text) else text


@dataclass
class MergeRecord:
    """One id's names, definition and origin, from all sources so far.

    Attributes:
        named: casefolded name -> the name.
        labels: source -> what it calls the id.
        preferred: the canonical name; "" = the first.
        forms: surface forms in annotated text, the commonest first; they are evidence, not names.
        types: strong types in order.
        weak_types: those of the first source that has any; they are used where there are no strong ones.
        xrefs: cross references in order -> whether a sure source gave it: not an ontology of another vocabulary.
        xref_votes: cross reference -> what the terms that give it are called, and one by the number of codes of its
            vocabulary that they give. The code with the most votes comes first.
        parents: ids of broader entities; they may be retired, or lacking.
        sources: the sources that name it.
        curated: the sources that name it by a curated mapping file.
    """

    named: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    preferred: str = ""
    forms: tuple[str, ...] = ()
    definition: str | None = None
    types: dict[str, None] = field(default_factory=dict)
    weak_types: dict[str, None] = field(default_factory=dict)
    xrefs: dict[str, bool] = field(default_factory=dict)
    xref_votes: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    parents: dict[str, None] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)
    curated: set[str] = field(default_factory=set)

    @property
    def canonical_name(self) -> str:
        """The preferred name, or else the first."""
        return self.preferred or next(iter(self.named.values()))

    @property
    def has_forms_only(self) -> bool:
        """Whether nothing but annotated text names it."""
        return bool(self.forms) and self.named.keys() <= {form.casefold() for form in map(plain_name, self.forms)}

    @property
    def all_types(self) -> tuple[str, ...]:
        """The strong types, or else the weak ones."""
        return tuple(self.types or self.weak_types)

    def add_name(self, name: str) -> bool:
        """Whether the name was new."""
        name = plain_name(name)
        n_before = len(self.named)
        if name:
            self.named.setdefault(name.casefold(), name)
        return len(self.named) > n_before

    def drop_inverted(self) -> list[str]:
        """Leave out names as of an index, "Syndrome, Down", where another one is the same in the order of speech.

        Returns:
            The names left out.
        """
        spoken = {folded: " ".join(reversed(folded.split(", "))) for folded in self.named if ", " in folded}
        inverted = {folded: self.named[name] for folded, name in spoken.items() if name in self.named}
        self.labels = {source: inverted.get(label.casefold(), label) for source, label in self.labels.items()}
        return [self.named.pop(folded) for folded in inverted]

    def add_label(self, source: str, name: str) -> None:
        """Take a name as that by which a source calls the id, if it does not call it otherwise yet."""
        if name := plain_name(name):
            self.labels.setdefault(source, name)

    def add_definition(self, definition: str | None) -> None:
        """Take the definition if there is none yet."""
        if self.definition is None and definition:
            self.definition = clean_text(without_markup(definition)) or None

    def add_types(self, names: Iterable[str], *, weak: bool) -> None:
        """Take the types; weak ones only if there are none yet, as ontologies that disagree are not both right."""
        if not (weak and self.weak_types):
            (self.weak_types if weak else self.types).update((name, None) for name in names if name)

    def add_xrefs(self, xrefs: Sequence[str], *, own: bool, label: str = "") -> None:
        """Take the cross references of a term with this label; ``own``: they are sure."""
        vocabularies = [xref.partition(":")[0] for xref in xrefs]
        for xref, vocabulary in zip(xrefs, vocabularies, strict=True):
            self.xrefs[xref] = own or self.xrefs.get(xref, False)
            self.xref_votes.setdefault(xref, []).append((label.casefold(), 1 / vocabularies.count(vocabulary)))

    def take_over(self, other: "MergeRecord") -> None:
        """Take over the content of a retired record; the name by which it was called becomes an alias, or the preferred
        name if annotated text has it more often."""
        names = (normalize_alias(self.canonical_name), normalize_alias(other.canonical_name))
        if next((form for form in map(normalize_alias, self.forms) if form in names), names[0]) != names[0]:
            self.preferred = other.canonical_name
        for name in (other.canonical_name, *other.named.values()):
            self.named.setdefault(name.casefold(), name)
        self.add_definition(other.definition)
        self.add_types(other.weak_types, weak=True)
        for xref, own in other.xrefs.items():
            self.xrefs[xref] = own or self.xrefs.get(xref, False)
            self.xref_votes[xref] = self.xref_votes.get(xref, []) + other.xref_votes[xref]
        self.types.update(other.types)
        self.parents.update(other.parents)
        self.sources |= other.sources
        self.curated |= other.curated

    def entity(self, entity_id: str) -> Entity:
        """The record as an entity of the knowledge base."""
        name = self.canonical_name
        aliases = tuple(alias for folded, alias in self.named.items() if folded != name.casefold())

        def rank(xref: str) -> tuple[bool, bool, float]:
            votes = sum(vote * (1 + (label == name.casefold())) for label, vote in self.xref_votes[xref])
            return not self.xrefs[xref], not is_code(*split_xref(xref)), -votes

        xrefs = tuple(sorted(self.xrefs, key=rank))
        return Entity(entity_id, name, aliases, self.all_types, self.definition, xrefs, tuple(self.parents))

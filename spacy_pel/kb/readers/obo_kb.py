"""The KB reader for ontologies: OBO, OBO-graph JSON, OWL, Turtle, the NCI Thesaurus, OncoTree, term lists."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import Errors, PelError, shortened
from ...registry import registry
from ...types import Entity
from .ontology import Term, clean_text, read_terms
from .ontology.obo import SCOPES
from .reader_base import KBReaderBase, Place


@registry.pel_kb_readers("spacy-pel.OboKB.v1")
class OboKB(KBReaderBase):
    """Reads the terms of ontologies as entities; the types are their semantic types, or else the
    namespace (OBO) or the ontology's name.

    Obsolete terms are left out; their ids and the alternative ids lead to the successor, if there is one.
    With ``id_xref`` a term with several such cross references goes to each of the ids, and
    several terms with the same one become a single entity: the first gives the name and,
    if it has one, the definition. Terms without such a cross reference are left out.

    Args:
        id_xref: the prefix of the cross references that give the ids, e.g.
            "UMLS"; None = the terms' own ids.
        scopes: the synonyms to take: "exact", "related", "narrow", "broad".
        types: keep terms of these namespaces; None = all.
        id_prefix: keep ids that start with this, e.g. "UBERON:" to leave out imported terms.
        strict: turn repairs into errors.
    """

    def __init__(
        self,
        *,
        id_xref: str | None = None,
        scopes: Sequence[str] = ("exact",),
        types: list[str] | None = None,
        id_prefix: str = "",
        strict: bool = False,
    ) -> None:
        unknown = sorted(set(scopes) - set(SCOPES))
        if unknown:
            raise PelError(Errors.E140.format(got=", ".join(unknown), known=", ".join(SCOPES)))
        super().__init__(types=types, id_prefix=id_prefix, strict=strict)
        self.id_xref = id_xref
        self.scopes = frozenset(scopes)

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        if self.id_xref is None:
            for path in paths:
                for term in self._terms(path):
                    self._note_redirects(term)
                    if not term.obsolete:
                        yield Place(path, term.line), self._entity(Place(path, term.line), term.id, [term])
            return
        groups: dict[str, list[Term]] = {}
        places: dict[str, Place] = {}
        for path in paths:
            for term in self._terms(path):
                if term.obsolete:
                    continue
                for entity_id in xref_ids(term.xrefs, self.id_xref):
                    groups.setdefault(entity_id, []).append(term)
                    places.setdefault(entity_id, Place(path, term.line))
        for entity_id, terms in groups.items():
            yield places[entity_id], self._entity(places[entity_id], entity_id, terms)

    def _terms(self, path: Path) -> Iterator[Term]:
        noted = ""
        for term in read_terms(path):
            if term.version != noted:
                noted = term.version
                known = self.source["version"]
                self.source["version"] = f"{known}, {noted}" if known else noted
            yield term

    def _note_redirects(self, term: Term) -> None:
        if term.obsolete and term.successor:
            self.redirects[term.id] = term.successor
        elif term.obsolete:
            self.note_obsolete(term.id, *term.consider)
        for old in term.alt_ids:
            # an obsolete stanza that names a successor takes precedence over an alt_id
            self.redirects.setdefault(old, term.id)

    def _entity(self, place: Place, entity_id: str, terms: list[Term]) -> Entity:
        try:
            return self._cleaned(entity_id, terms)
        except ValueError as err:
            self.fail(place, expected=f"a name or definition of {shortened(entity_id)}", got=err)

    def _cleaned(self, entity_id: str, terms: list[Term]) -> Entity:
        aliases = [
            clean_text(text)
            for term in terms
            for text in (term.name, *(synonym for synonym, scope in term.synonyms if scope in self.scopes))
        ]
        definition = next((term.definition for term in terms if term.definition), None)
        fields: dict[str, Any] = {
            "types": dict.fromkeys(name for term in terms for name in term.types or [term.namespace]),
            "definition": clean_text(definition) if definition else None,
        }
        return Entity(entity_id, clean_text(terms[0].name), tuple(aliases), **fields)


def xref_ids(xrefs: Sequence[str], prefix: str) -> list[str]:
    """The distinct ids after ``prefix:``, in any case."""
    found = (xref.partition(":") for xref in xrefs)
    return list(dict.fromkeys(number for name, _, number in found if name.lower() == prefix.lower() and number))

"""The KB reader for ontologies: OBO, OBO-graph JSON, OWL, Turtle, the NCI Thesaurus, OncoTree, term lists."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import Errors, PelError, shortened
from ...ontologies import Term, clean_text, nearest_ancestors, read_terms
from ...ontologies.obo import SCOPES
from ...registry import registry
from ...types import Entity
from ...util.files import Place, unexpected
from .reader_base import KBReaderBase


@registry.pel_kb_readers("spacy-pel.OboKB.v1")
@dataclass(kw_only=True, eq=False)
class OboKB(KBReaderBase):
    """Reads the terms of ontologies as entities; the types are their semantic types, or else the
    namespace (OBO) or the ontology's name.

    Obsolete terms are left out; their ids and the alternative ids lead to the successor, if there is one.
    With ``id_xref`` a term with several such cross references goes to each of the ids, and
    several terms with the same one become a single entity: the first gives the name and,
    if it has one, the definition. Terms without such a cross reference are left out; the parents of an entity are
    the nearest ancestors that have one, and the terms' own ids are cross references.

    Args:
        id_xref: the prefix of the cross references that give the ids, e.g.
            "UMLS"; None = the terms' own ids.
        scopes: the synonyms to take: "exact", "related", "narrow", "broad".
        types: keep terms of these namespaces; None = all.
        id_prefix: keep ids that start with this, e.g. "UBERON:" to leave out imported terms.
        strict: turn repairs into errors.
    """

    id_xref: str | None = None
    scopes: Sequence[str] = ("exact",)

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.scopes) - set(SCOPES)):
            raise PelError(Errors.E140.format(got=", ".join(unknown), known=", ".join(SCOPES)))
        super().__post_init__()

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        versions: dict[str, None] = {}
        terms_by_id: dict[str, list[Term]] = {}
        places: dict[str, Place] = {}
        all_terms: dict[str, Term] = {}
        ids_of: dict[str, list[str]] = {}
        for path in paths:
            for term in read_terms(path):
                if term.version and term.version not in versions:
                    versions[term.version] = None
                    self.source["version"] = ", ".join(versions)
                place = Place(path, term.line)
                if self.id_xref is None:
                    self._note_redirects(term)
                    if not term.obsolete:
                        yield place, self._entity(place, term.id, [term])
                elif not term.obsolete:
                    all_terms[term.id] = term
                    for entity_id in xref_ids(term.xrefs, self.id_xref):
                        ids_of.setdefault(term.id, []).append(entity_id)
                        terms_by_id.setdefault(entity_id, []).append(term)
                        places.setdefault(entity_id, place)
        for entity_id, terms in terms_by_id.items():
            entity = self._entity(places[entity_id], entity_id, terms)
            above = (parent for term in terms for parent in nearest_ancestors(term, all_terms, ids_of))
            parents = dict.fromkeys(found for parent in above for found in ids_of[parent] if found != entity_id)
            xrefs = dict.fromkeys(xref for term in terms for xref in (term.id, *term.xrefs))
            own = f"{self.id_xref}:".lower()
            others = tuple(xref for xref in xrefs if not xref.lower().startswith(own))
            yield places[entity_id], replace(entity, xrefs=others, parents=tuple(parents))

    def _note_redirects(self, term: Term) -> None:
        if term.obsolete and term.replaced_by:
            self.redirects[term.id] = term.replaced_by[0]
        elif term.obsolete:
            self.note_obsolete(term.id, *term.consider)
        for old in term.alt_ids:
            # an obsolete stanza that names a successor takes precedence over an alt_id
            self.redirects.setdefault(old, term.id)

    def _entity(self, place: Place, entity_id: str, terms: list[Term]) -> Entity:
        definition = next((term.definition for term in terms if term.definition), None)
        try:
            names = [clean_text(name) for term in terms for name in term.names(self.scopes)]
            definition = clean_text(definition) if definition else None
        except ValueError as err:
            raise unexpected(place, f"a name or definition of {shortened(entity_id)}", err) from err
        types = dict.fromkeys(name for term in terms for name in term.types or [term.namespace])
        xrefs = dict.fromkeys(xref for term in terms for xref in term.xrefs)
        parents = dict.fromkeys(parent for term in terms for parent in term.parents)
        return Entity(entity_id, names[0], tuple(names), tuple(types), definition, tuple(xrefs), tuple(parents))


def xref_ids(xrefs: Sequence[str], prefix: str) -> list[str]:
    """The distinct ids after ``prefix:``, in any case."""
    found = (xref.partition(":") for xref in xrefs)
    return list(dict.fromkeys(number for name, _, number in found if name.lower() == prefix.lower() and number))

"""The KB reader for ontologies: OBO, OBO-graph JSON, OWL, Turtle, the NCI Thesaurus, OncoTree, term lists."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import Errors, PelError, quoted
from ...ontologies import Term, clean_text, read_terms
from ...ontologies.term import SCOPES
from ...registry import registry
from ...types import Entity
from ...util.files import Place
from ..repair import bare, is_obsolete
from .reader_base import KBReaderBase

_OUTER_QUOTE = re.compile(r'^"|(?<!\d)"$')  # not inches: 5"


@registry.pel_kb_readers("spacy-pel.OboKB.v1")
@dataclass(kw_only=True, eq=False)
class OboKB(KBReaderBase):
    """Reads the terms of ontologies as entities; the types are their semantic types, or else the
    namespace (OBO) or the ontology's name.

    Obsolete terms are left out; their ids and the alternative ids lead to the successor, if there is one.
    A quotation mark at one end of a name only is left out and counted as ``stray_quote``.

    Args:
        scopes: the synonyms to take: "exact", "related", "narrow", "broad".
        types: keep terms of these namespaces; None = all.
        id_prefix: keep ids that start with this, e.g. "UBERON:" to leave out imported terms.
        strict: turn repairs into errors.
    """

    scopes: Sequence[str] = ("exact",)

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.scopes) - set(SCOPES)):
            found = {"known": ", ".join(SCOPES), "got": ", ".join(unknown)}
            raise PelError(Errors.E016.format(what="synonym scopes", **found, setting="scopes"))
        super().__post_init__()

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        versions, licences, prefixes = dict[str, None](), dict[str, None](), Counter[str]()
        for path in paths:
            for term in read_terms(path):
                versions[term.version] = licences[term.licence] = None
                self._note_redirects(term)
                if not term.obsolete:
                    prefixes[term.id.partition(":")[0] if term.id.startswith(self.id_prefix) else ""] += 1
                    yield (place := Place(path, term.line)), self._entity(term, place)
        self.source.update(version=", ".join(filter(None, versions)), licence=", ".join(filter(None, licences)))
        # whatever its files are called
        self.source["name"] = next((name for name, _ in prefixes.most_common() if name.isalpha()), paths[0].name)

    def _note_redirects(self, term: Term) -> None:
        if term.obsolete or is_obsolete(term.name):
            said = [] if term.replaced_by else term.successors_in_comments()
            if new := term.replaced_by or said[:1] * (len(said) == 1):
                self.redirects[term.id] = new[0]
            else:
                self.note_obsolete(term.id, *term.consider, *said)
        for old in term.alt_ids:
            # an obsolete stanza that names a successor takes precedence over an alt_id
            self.redirects.setdefault(old, term.id)

    def _entity(self, term: Term, place: Place) -> Entity:
        names = [bare(clean_text(name)) for name in term.names(self.scopes)]
        for at, name in enumerate(names):
            if name.count('"') == 1 and (inner := _OUTER_QUOTE.sub("", name)) != name:
                self.repair("stray_quote", place, f"a quotation mark without another in {quoted(name)}")
                names[at] = inner
        definition = clean_text(term.definition) if term.definition else None
        types = tuple(term.types or [term.namespace])
        return Entity(term.id, names[0], tuple(names), types, definition, tuple(term.xrefs), tuple(term.parents))

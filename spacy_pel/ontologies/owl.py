"""Terms of an OWL ontology from its triples, whatever the syntax that they are written in."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .term import Term

NAMESPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "obo": "http://purl.obolibrary.org/obo/",
    "oboInOwl": "http://www.geneontology.org/formats/oboInOwl#",
    "efo": "http://www.ebi.ac.uk/efo/",
    "umls": "http://bioportal.bioontology.org/ontologies/umls/",
    "ncit": "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#",
    "NIFRID": "http://uri.neuinfo.org/nif/nifstd/readable/",
    "definition": "http://purl.obolibrary.org/obo/IAO_0000115",
    "replacedBy": "http://purl.obolibrary.org/obo/IAO_0100001",
}


def iri_of(curie: str, prefixes: dict[str, str]) -> str:
    """The IRI of "prefix:name"; as it is if the prefix is unknown."""
    prefix, _, name = curie.partition(":")
    return prefixes[prefix] + name if prefix in prefixes else curie


def node_of(curie: str, prefixes: dict[str, str]) -> str:
    """The IRI of "obo:HP_0000001"; "HP:0000001", whose prefix is of ids, as it is."""
    prefix, _, name = curie.partition(":")
    return iri_of(curie, prefixes) if not name or prefixes.get(prefix, "").endswith(("/", "#")) else curie


def _iris(*curies: str) -> tuple[str, ...]:
    return tuple(iri_of(curie, NAMESPACES) for curie in curies)


TYPE, CLASS = _iris("rdf:type", "owl:Class")
INDIVIDUAL, ONTOLOGY = _iris("owl:NamedIndividual", "owl:Ontology")
_CLASSES = {CLASS, *_iris("owl:DeprecatedClass", "skos:Concept")}
# where several say the same, the first that a class has gives the name, the definition, the id
_NAMES = _iris("ncit:P108", "rdfs:label", "skos:prefLabel")
_DEFINITIONS = _iris("obo:IAO_0000115", "skos:definition", "efo:definition", "ncit:P97", "NIFRID:birnlexDefinition")
_IDS = _iris("oboInOwl:id", "skos:notation")
_EXACT = (
    "skos:altLabel NIFRID:synonym NIFRID:acronym NIFRID:abbrev oboInOwl:hasExactSynonym efo:alternative_term "
    "obo:IAO_0000118 ncit:P90"
)
_SYNONYMS = dict.fromkeys(_iris(*_EXACT.split()), "exact")
_SYNONYMS.update((_iris(f"oboInOwl:has{scope.title()}Synonym")[0], scope) for scope in ("related", "narrow", "broad"))
_XREFS = _iris("oboInOwl:hasDbXref")
_PARENTS = SUBCLASS, _BROADER = _iris("rdfs:subClassOf", "skos:broader")
_NO_PARENTS = set(_iris("owl:Thing", "owl:DeprecatedClass"))
_CUIS = _iris("ncit:P207", "umls:cui", "NIFRID:UmlsCui", "NIFRID:umls_ID")
_KINDS = _iris("ncit:P106", "umls:tui")
_DEPRECATED_CLASS, _DEPRECATED, _STATUS = _iris("owl:DeprecatedClass", "owl:deprecated", "ncit:P310")
_REPLACED_BY, _CONSIDER, _ALT_ID = _iris("obo:IAO_0100001", "oboInOwl:consider", "oboInOwl:hasAlternativeId")
_NAMESPACE, _DEFAULT = _iris("oboInOwl:hasOBONamespace", "oboInOwl:default-namespace")
VERSION_INFO, VERSION_IRI = _iris("owl:versionInfo", "owl:versionIRI")
NCIT_RETIRED = {"Retired_Concept", "Obsolete_Concept"}
_KEPT = {
    TYPE,
    *(*_NAMES, *_DEFINITIONS, *_IDS, *_SYNONYMS, *_XREFS, *_PARENTS, *_CUIS, *_KINDS, VERSION_INFO, VERSION_IRI),
    *(_DEPRECATED, _STATUS, _REPLACED_BY, _CONSIDER, _ALT_ID, _NAMESPACE, _DEFAULT),
}
# ".../obo/NCIT_C17425", ".../ORDO/Orphanet_124", ".../NCBITaxon_Union_0000030"; not "...#heart_attack"
_OBO_IRI = re.compile(r"https?://.*[/#]([A-Za-z][A-Za-z0-9.]*(?:_[A-Za-z]+)*)_([A-Za-z0-9.-]*\d[A-Za-z0-9.-]*)")
Values = dict[str, list[tuple[str, str]]]  # predicate -> (text, language)


class Triple(NamedTuple):
    """What an ontology says about a subject.

    Attributes:
        value: an IRI, or the text of a literal ...
        language: ... and the language that it is tagged with; "" = none.
    """

    subject: str
    predicate: str
    value: str
    language: str = ""


def compact_id(iri: str) -> str:
    """ "HP:0000001" for ".../HP_0000001", "C3224" for NCI's own IRI; other text as it is."""
    match = _OBO_IRI.fullmatch(iri)
    return f"{match[1]}:{match[2]}" if match else iri.removeprefix(NAMESPACES["ncit"])


def terms_of_triples(triples: Iterable[Triple], *, individuals: bool = False) -> Iterator[Term]:
    """Give the classes; a file may spread what it says about one of them.

    Args:
        triples: of one file. Memory holds those that make terms.
        individuals: give the named individuals, too.

    Yields:
        In the order of the file, deprecated ones included.
    """
    subjects: dict[str, Values] = {}
    for subject, predicate, value, language in triples:
        if predicate in _KEPT and value.strip():
            subjects.setdefault(subject, {}).setdefault(predicate, []).append((value, language))
    ontology, version = "", ""
    for subject, values in subjects.items():
        if ONTOLOGY in _texts(values, TYPE):
            ontology = next(iter(_texts(values, _DEFAULT)), re.sub(r"\.\w+$", "", subject.rsplit("/", 1)[-1]))
            version = next(iter(_texts(values, VERSION_INFO, VERSION_IRI)), "")
            break
    kinds = _CLASSES | {INDIVIDUAL} if individuals else _CLASSES
    for subject, values in subjects.items():
        if not kinds.isdisjoint(_texts(values, TYPE)):
            term = _term(subject, values, ontology, version)
            parents = (_id(iri, subjects.get(iri, {})) for iri in _texts(values, *_PARENTS) if iri not in _NO_PARENTS)
            term.parents = list(dict.fromkeys(parents))
            yield term


def _id(subject: str, values: Values) -> str:
    """The id of an IRI, or the one that the class is given if the IRI has none in it."""
    compact = compact_id(subject)
    return next(iter(_texts(values, *_IDS)), subject) if compact == subject and "/" in subject else compact


def _term(subject: str, values: Values, ontology: str, version: str) -> Term:
    labels = [label for key in _NAMES for label in values.get(key, [])]
    languages = _languages(labels)

    def worded(*keys: str) -> list[str]:
        return [text for key in keys for text, tag in values.get(key, []) if _main(tag) in languages]

    names = list(dict.fromkeys(worded(*_NAMES)))
    synonyms = [(name, "exact") for name in names[1:]]
    synonyms += [(text, scope) for key, scope in _SYNONYMS.items() for text in worded(key)]
    return Term(
        id=_id(subject, values),
        name=names[0] if names else "",
        synonyms=synonyms,
        definition=next(iter(worded(*_DEFINITIONS)), None),
        xrefs=[f"UMLS:{cui.strip()}" for cui in _texts(values, *_CUIS)]
        + [compact_id(xref) for xref in _texts(values, *_XREFS)],
        namespace=next(iter(_texts(values, _NAMESPACE)), ontology),
        types=_texts(values, *_KINDS),
        obsolete=not {"true", "1"}.isdisjoint(_texts(values, _DEPRECATED))
        or not NCIT_RETIRED.isdisjoint(_texts(values, _STATUS))
        or _DEPRECATED_CLASS in _texts(values, TYPE),
        replaced_by=[compact_id(new) for new in _texts(values, _REPLACED_BY)],
        consider=[compact_id(new) for new in _texts(values, _CONSIDER)],
        alt_ids=[compact_id(old) for old in _texts(values, _ALT_ID)],
        version=version,
    )


def _texts(values: Values, *keys: str) -> list[str]:
    return [text for key in keys for text, _ in values.get(key, [])]


def _main(tag: str) -> str:
    """The language of a tag, "en" of "en-US"."""
    return tag.lower().partition("-")[0]


def _languages(labels: list[tuple[str, str]]) -> set[str]:
    """No tag and English; if no label has these, the language of the first label."""
    tags = [_main(tag) for _, tag in labels]
    return {"", tags[0] if tags and not {"", "en"} & set(tags) else "en"}

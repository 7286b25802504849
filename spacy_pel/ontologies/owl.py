"""Terms of an OWL ontology in RDF/XML, as most are published, or in Turtle.

Turtle: written by hand, as rdflib 7.6 builds a graph of all triples before the first term and takes 12.6 s of CPU
time for the nine files of NIFSTD, this reader 1.6 s.

XML: read with the XML parser of the standard library: py-horned-owl 2.0 is faster (19 s of CPU time for
235 MB, this reader 34 s), but it holds all axioms (1.2 GB, this reader 0.3 GB) and gives them in another
order each time, so that a class with two labels would change its name from build to build.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from ..errors import PelError, quoted
from ..util import Place, ending_of, first_bytes, read_elements, read_text, unexpected
from ..util.files import raw_blocks
from .obo import unescape
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


_TYPE, _CLASS, _INDIVIDUAL, _ONTOLOGY = _iris("rdf:type", "owl:Class", "owl:NamedIndividual", "owl:Ontology")
_CLASSES = {_CLASS, *_iris("owl:DeprecatedClass", "skos:Concept")}
# where several say the same, the first that a class has gives the name, the definition, the id
_NAMES = _iris("ncit:P108", "rdfs:label", "skos:prefLabel")
_DEFINITIONS = _iris("obo:IAO_0000115", "skos:definition", "efo:definition", "ncit:P97", "NIFRID:birnlexDefinition")
_IDS = _iris("oboInOwl:id", "skos:notation")
_EXACT = """skos:altLabel NIFRID:synonym NIFRID:acronym NIFRID:abbrev oboInOwl:hasExactSynonym efo:alternative_term
obo:IAO_0000118 ncit:P90"""
_SYNONYMS = dict.fromkeys(_iris(*_EXACT.split()), "exact")
_SYNONYMS.update((_iris(f"oboInOwl:has{scope.title()}Synonym")[0], scope) for scope in ("related", "narrow", "broad"))
_XREFS = _iris("oboInOwl:hasDbXref")
_PARENTS = SUBCLASS, _BROADER = _iris("rdfs:subClassOf", "skos:broader")
_NO_PARENTS = set(_iris("owl:Thing", "owl:DeprecatedClass"))
_CUIS = _iris("ncit:P207", "umls:cui", "NIFRID:UmlsCui", "NIFRID:umls_ID")
_KINDS = _iris("ncit:P106", "umls:tui")
_COMMENTS = _iris("efo:reason_for_obsolescence", "rdfs:comment")
_DEPRECATED_CLASS, _DEPRECATED, _STATUS = _iris("owl:DeprecatedClass", "owl:deprecated", "ncit:P310")
REPLACED_BY, CONSIDER, ALT_ID = _iris("obo:IAO_0100001", "oboInOwl:consider", "oboInOwl:hasAlternativeId")
NAMESPACE, _DEFAULT = _iris("oboInOwl:hasOBONamespace", "oboInOwl:default-namespace")
VERSIONS = _iris("owl:versionInfo", "owl:versionIRI")
_LICENCES = ("http://purl.org/dc/terms/license", "http://purl.org/dc/elements/1.1/rights")
NCIT_RETIRED = {"Retired_Concept", "Obsolete_Concept"}
_KEPT = {
    _TYPE,
    *(*_NAMES, *_DEFINITIONS, *_IDS, *_SYNONYMS, *_XREFS, *_PARENTS, *_CUIS, *_KINDS, *VERSIONS, *_LICENCES),
    *(*_COMMENTS, _DEPRECATED, _STATUS, REPLACED_BY, CONSIDER, ALT_ID, NAMESPACE, _DEFAULT),
}
# ".../obo/NCIT_C17425", ".../ORDO/Orphanet_124", ".../NCBITaxon_Union_0000030"; not "...#heart_attack"
_OBO_IRI = re.compile(r"https?://.*[/#]([A-Za-z][A-Za-z0-9.]*(?:_[A-Za-z]+)*)_([A-Za-z0-9.-]*\d[A-Za-z0-9.-]*)")
_RDF, _XML = f"{{{NAMESPACES['rdf']}}}", "{http://www.w3.org/XML/1998/namespace}"
_ABOUT, _ID, _RESOURCE, _DESCRIPTION = (f"{_RDF}{name}" for name in ("about", "ID", "resource", "Description"))
_LANG, _BASE = f"{_XML}lang", f"{_XML}base"
# what stands before the first statement
_BEFORE = re.compile(rb"^(?:\xef\xbb\xbf)?(?:\s|#[^\n]*\n)*")
_TURTLE_STARTS = re.compile(rb"@?(?:prefix|base)\s|<http", re.IGNORECASE)
_CONVERT = "Convert it, e.g. with: robot convert -i FILE -o FILE.obo"
_TURTLE = re.compile(
    r"(?s)\s+|\#[^\n]*"
    r'|"""(?P<long>(?:[^\\]|\\.)*?)"""(?:\^\^\S+?(?=[\s,;.\]])|@(?P<tag>[\w-]+))?'
    r'|"(?P<text>(?:[^"\\\n]|\\.)*)"(?:\^\^[^\s,;\]]+|@(?P<language>[\w-]+))?'
    r"|<(?P<iri>[^<>\s]*)>"
    r"|(?P<mark>[;,\[\]()]|\.(?=\s|$))"
    r"|(?P<word>[^\s;,\[\]()<>\"\#]+?(?=[\s;,\[\]()]|\.\s|$))"
)
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
    ontology = version = licence = ""
    for subject, values in subjects.items():
        if _ONTOLOGY in _texts(values, _TYPE):
            ontology = next(iter(_texts(values, _DEFAULT)), re.sub(r"\.\w+$", "", subject.rsplit("/", 1)[-1]))
            version, licence = (next(iter(_texts(values, *keys)), "") for keys in (VERSIONS, _LICENCES))
            break
    kinds = _CLASSES | {_INDIVIDUAL} if individuals else _CLASSES
    for subject, values in subjects.items():
        if not kinds.isdisjoint(_texts(values, _TYPE)):
            term = _term(subject, values, ontology)
            term.version, term.licence = version, licence
            parents = (_id(iri, subjects.get(iri, {})) for iri in _texts(values, *_PARENTS) if iri not in _NO_PARENTS)
            term.parents = list(dict.fromkeys(parents))
            yield term


def _id(subject: str, values: Values) -> str:
    """The id of an IRI, or the one that the class is given if the IRI has none in it."""
    compact = compact_id(subject)
    return next(iter(_texts(values, *_IDS)), subject) if compact == subject and "/" in subject else compact


def _term(subject: str, values: Values, ontology: str) -> Term:
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
        namespace=next(iter(_texts(values, NAMESPACE)), ontology),
        types=_texts(values, *_KINDS),
        obsolete=not {"true", "1"}.isdisjoint(_texts(values, _DEPRECATED))
        or not NCIT_RETIRED.isdisjoint(_texts(values, _STATUS))
        or _DEPRECATED_CLASS in _texts(values, _TYPE),
        replaced_by=[compact_id(new) for new in _texts(values, REPLACED_BY)],
        consider=[compact_id(new) for new in _texts(values, CONSIDER)],
        alt_ids=[compact_id(old) for old in _texts(values, ALT_ID)],
        comments=_texts(values, *_COMMENTS),
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


def read_turtle(path: Path) -> Iterator[Triple]:
    """Give the triples of a Turtle file whose subject has a name: the part of the grammar that ontology files use.

    Statements are read one after the other; blank nodes in brackets (logical definitions)
    are skipped, since they name nothing.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order.

    Raises:
        PelError: at text that is not Turtle; names the line.
    """
    prefixes = dict(NAMESPACES)
    subject, predicate, depth, end = "", "", 0, 0
    content = read_text(path)

    def not_turtle(got: str) -> PelError:
        return unexpected(Place(path, content.count("\n", 0, end) + 1), "Turtle", got)

    while end < len(content):
        match = _TURTLE.match(content, end)
        if match is None:
            raise not_turtle(quoted(content[end : end + 40]))
        end = match.end()
        kind, token = match.lastgroup or "", match[match.lastgroup or 0]
        mark = match["mark"] or ""
        if mark and mark in "[(":
            depth += 1
        elif mark and mark in "])":
            depth -= 1
            if depth < 0:
                raise not_turtle(f"a bracket too many in {quoted(subject)}")
        elif not kind or depth or mark == ",":  # a comma: one more value
            continue
        elif mark:
            subject, predicate = subject if mark == ";" else "", ""
        elif not subject:
            subject = node_of(token, prefixes) if kind == "word" else token
        elif not predicate:
            predicate = token
        elif subject.lower() in ("@prefix", "prefix"):
            prefixes[predicate.removesuffix(":")] = token
            subject, predicate = subject if subject[0] == "@" else "", ""  # which ends with a full stop
        else:
            text = match["text"] if match["long"] is None else match["long"]
            value = node_of(token, prefixes) if kind == "word" else token if text is None else unescape(text)
            iri = _TYPE if predicate == "a" else iri_of(predicate, prefixes)
            yield Triple(subject, iri, value, match["tag"] or match["language"] or "")
    if depth or subject:  # what follows an open bracket would be lost
        raise not_turtle(f"the end of the file within {quoted(subject)}")


def read_rdf_xml(path: Path) -> Iterator[Triple]:
    """Stream the triples of RDF/XML that name something; the other axioms are left out.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order.

    Raises:
        PelError: at malformed XML, and at XML of another kind.
    """
    chunks = ((Place(path, line), b"".join(lines)) for line, lines in raw_blocks(path))
    for _, root, element in read_elements(path, chunks, expected="OWL in XML"):
        if root.tag != f"{_RDF}RDF":
            raise unexpected(path, "OWL in RDF/XML", f"the element {quoted(root.tag)}", _CONVERT)
        yield from _of_node(element, root.get(_BASE, ""), root.get(_LANG, ""))


def _of_node(node: Element, base: str, language: str) -> Iterator[Triple]:
    """Of a node of RDF/XML and the nodes in it."""
    subject = _absolute(base, node.get(_ABOUT, "")) if _ABOUT in node.attrib else ""
    if _ID in node.attrib:
        subject = f"{base}#{node.attrib[_ID]}"
    if subject and node.tag != _DESCRIPTION:
        yield Triple(subject, _TYPE, _iri(node.tag))
    for key, text in node.attrib.items() if subject else ():
        yield Triple(subject, _iri(key), text, node.get(_LANG, language))
    for value in node:
        resource = value.get(_RESOURCE)
        if resource is None and _iri(value.tag) == SUBCLASS:  # a class in it, or else an expression
            resource = next((inner.get(_ABOUT, "") for inner in value if _iri(inner.tag) == _CLASS), "")
        if resource is not None:
            text = _absolute(base, resource) if resource else ""
        else:
            # text, or that of an element in it: ncicp:term-name of a complex term of the NCI Thesaurus,
            # rdfs:label of a synonym in the first versions of oboInOwl
            text = next(filter(str.strip, value.itertext()), "")
        if subject:
            yield Triple(subject, _iri(value.tag), text, value.get(_LANG, node.get(_LANG, language)))
        for inner in value:
            yield from _of_node(inner, base, language)


def _absolute(base: str, iri: str) -> str:
    return iri if "://" in iri else urljoin(base, iri)


def _iri(tag: str) -> str:
    return tag.replace("{", "", 1).replace("}", "", 1)


def read_owl(path: Path) -> Iterator[Term]:
    """Read an OWL ontology: a name in .owl does not say in which syntax it is. Of a file in .ttl the named individuals
    are terms, too: NIFSTD has organisms as individuals.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order.

    Raises:
        PelError: if the file begins like neither RDF/XML nor Turtle, or is damaged.
    """
    is_turtle = ending_of(path) == ".ttl"
    triples = read_turtle(path) if is_turtle or _starts_as_turtle(path) else read_rdf_xml(path)
    yield from terms_of_triples(triples, individuals=is_turtle)


def _starts_as_turtle(path: Path) -> bool:
    start = _BEFORE.sub(b"", first_bytes(path, 1 << 16), count=1)
    if _TURTLE_STARTS.match(start):
        return True
    if start[:1] in (b"<", b""):  # the latter: damaged
        return False
    raise unexpected(path, "OWL in RDF/XML or Turtle", quoted(start[:40].decode("utf8", errors="replace")), _CONVERT)

"""Triples of OWL in XML: RDF/XML, as most ontologies are published, and OWL/XML.

Read with the XML parser of the standard library: py-horned-owl 2.0 is faster (19 s of CPU time for
235 MB, this reader 34 s), but it holds all axioms (1.2 GB, this reader 0.3 GB) and gives them in another
order each time, so that a class with two labels would change its name from build to build.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from ..util.files import Place, raw_blocks
from ..util.parsing import read_elements
from .owl import CLASS, NAMESPACES, ONTOLOGY, SUBCLASS, TYPE, VERSION_IRI, Triple, iri_of

_RDF, _OWL, _XML = (
    f"{{{iri}}}" for iri in (NAMESPACES["rdf"], NAMESPACES["owl"], "http://www.w3.org/XML/1998/namespace")
)
_ABOUT, _ID, _RESOURCE, _DESCRIPTION = (f"{_RDF}{name}" for name in ("about", "ID", "resource", "Description"))
_LANG, _BASE = f"{_XML}lang", f"{_XML}base"


def read_owl_xml(path: Path) -> Iterator[Triple]:
    """Stream the triples that name something; the other axioms are left out.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order.

    Raises:
        PelError: at malformed XML.
    """
    chunks = ((Place(path, line), b"".join(lines)) for line, lines in raw_blocks(path))
    prefixes = dict(NAMESPACES)
    is_first = True
    for _, root, element in read_elements(path, chunks, expected="OWL in XML"):
        base = root.get(_BASE, "")
        if root.tag == f"{_OWL}Ontology":
            if is_first:
                iri = root.get("ontologyIRI", base)
                yield Triple(iri, TYPE, ONTOLOGY)
                if "versionIRI" in root.attrib:
                    yield Triple(iri, VERSION_IRI, root.attrib["versionIRI"])
            yield from _of_axiom(element, base, prefixes, root.get("ontologyIRI", base))
        else:
            yield from _of_node(element, base, root.get(_LANG, ""))
        is_first = False


def _of_node(node: Element, base: str, language: str) -> Iterator[Triple]:
    """Of a node of RDF/XML and the nodes in it."""
    subject = _absolute(base, node.get(_ABOUT, "")) if _ABOUT in node.attrib else ""
    if _ID in node.attrib:
        subject = f"{base}#{node.attrib[_ID]}"
    if subject and node.tag != _DESCRIPTION:
        yield Triple(subject, TYPE, _iri(node.tag))
    for key, text in node.attrib.items() if subject else ():
        yield Triple(subject, _iri(key), text, node.get(_LANG, language))
    for value in node:
        found = value.get(_RESOURCE)
        if found is None and _iri(value.tag) == SUBCLASS:  # a class in it, or else an expression
            found = next((inner.get(_ABOUT, "") for inner in value if _iri(inner.tag) == CLASS), "")
        if found is not None:
            text = _absolute(base, found) if found else ""
        else:
            # text, or that of an element in it: ncicp:term-name of a complex term of the NCI Thesaurus,
            # rdfs:label of a synonym in the first versions of oboInOwl
            text = next(filter(str.strip, value.itertext()), "")
        if subject:
            yield Triple(subject, _iri(value.tag), text, value.get(_LANG, node.get(_LANG, language)))
        for inner in value:
            yield from _of_node(inner, base, language)


def _of_axiom(axiom: Element, base: str, prefixes: dict[str, str], ontology: str) -> Iterator[Triple]:
    """Of an annotation, a declared class or a named parent in OWL/XML, none of another axiom."""
    kind = axiom.tag.removeprefix(_OWL)
    if kind == "Prefix":
        prefixes[axiom.get("name", "")] = axiom.get("IRI", "")
    elif kind == "Declaration":
        for entity in axiom.iterfind(f"{_OWL}Class"):
            yield Triple(_entity(entity, base, prefixes), TYPE, CLASS)
    elif kind == "SubClassOf":
        classes = [part for part in axiom if part.tag != f"{_OWL}Annotation"]
        if len(classes) == 2 and all(part.tag == f"{_OWL}Class" for part in classes):
            child, parent = (_entity(part, base, prefixes) for part in classes)
            yield Triple(child, SUBCLASS, parent)
    elif kind in ("AnnotationAssertion", "Annotation"):
        parts = [part for part in axiom if part.tag != f"{_OWL}Annotation"]
        values = [part.text or "" if part.tag == f"{_OWL}Literal" else _entity(part, base, prefixes) for part in parts]
        subject = [ontology] if kind == "Annotation" else values[1:2]
        if len(values) > 1 and subject:
            yield Triple(subject[0], values[0], values[-1], parts[-1].get(_LANG, ""))


def _entity(element: Element, base: str, prefixes: dict[str, str]) -> str:
    short = element.get("abbreviatedIRI") or (element.text if element.tag == f"{_OWL}AbbreviatedIRI" else None)
    return iri_of(short, prefixes) if short else _absolute(base, element.get("IRI") or element.text or "")


def _absolute(base: str, iri: str) -> str:
    return iri if "://" in iri else urljoin(base, iri)


def _iri(tag: str) -> str:
    return tag.replace("{", "", 1).replace("}", "", 1)

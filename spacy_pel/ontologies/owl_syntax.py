"""Triples of OWL in its syntaxes: RDF/XML, as most ontologies are published, OWL/XML, Turtle, and functional syntax
(.ofn), in which many ontologies are edited and some are published.

Turtle: written by hand, as rdflib 7.6 builds a graph of all triples before the first term and takes 12.6 s of CPU
time for the nine files of NIFSTD, this reader 1.6 s.

XML: read with the XML parser of the standard library: py-horned-owl 2.0 is faster (19 s of CPU time for
235 MB, this reader 34 s), but it holds all axioms (1.2 GB, this reader 0.3 GB) and gives them in another
order each time, so that a class with two labels would change its name from build to build.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from ..errors import quoted
from ..util import read_text
from ..util.files import READ_ERRORS, Place, open_bytes, raw_blocks, unexpected
from ..util.parsing import read_elements
from .obo import unescape
from .owl import CLASS, NAMESPACES, ONTOLOGY, SUBCLASS, TYPE, VERSION_IRI, Triple, iri_of, node_of, terms_of_triples
from .term import Term

_TURTLE = re.compile(
    r"\s+|\#[^\n]*"
    r'|"""(?P<long>(?:[^\\]|\\.)*?)"""(?:\^\^\S+?(?=[\s,;.\]])|@(?P<tag>[\w-]+))?'
    r'|"(?P<text>(?:[^"\\\n]|\\.)*)"(?:\^\^[^\s,;\]]+|@(?P<language>[\w-]+))?'
    r"|<(?P<iri>[^<>\s]*)>"
    r"|(?P<mark>[;,\[\]()]|\.(?=\s|$))"
    r"|(?P<word>[^\s;,\[\]()<>\"\#]+?(?=[\s;,\[\]()]|\.\s|$))",
    re.DOTALL,
)
_FUNCTIONAL = re.compile(
    r"\s+|\#[^\n]*"
    r'|"(?P<text>(?:[^"\\]|\\.)*)"(?:@(?P<language>[\w-]+)|\^\^(?:<[^<>]*>|[^\s()]+))?'
    r"|<(?P<iri>[^<>\s]*)>|(?P<mark>[()])|(?P<word>[^\s()<>\"]+)",
    re.DOTALL,
)
_RDF, _OWL, _XML = (
    f"{{{iri}}}" for iri in (NAMESPACES["rdf"], NAMESPACES["owl"], "http://www.w3.org/XML/1998/namespace")
)
_ABOUT, _ID, _RESOURCE, _DESCRIPTION = (f"{_RDF}{name}" for name in ("about", "ID", "resource", "Description"))
_LANG, _BASE = f"{_XML}lang", f"{_XML}base"
_BLANKS = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*\n)*")


@dataclass
class _Tokens:
    """The tokens of a file: iterate, and raise an error at the current one."""

    path: Path
    pattern: "re.Pattern[str]"
    syntax: str
    end: int = 0  # of the current token

    def __iter__(self) -> Iterator["re.Match[str]"]:
        self.text = read_text(self.path)
        while self.end < len(self.text):
            match = self.pattern.match(self.text, self.end)
            if match is None:
                self.fail(quoted(self.text[self.end : self.end + 40]))
            self.end = match.end()
            yield match

    def fail(self, got: str) -> NoReturn:
        raise unexpected(Place(self.path, self.text.count("\n", 0, self.end) + 1), self.syntax, got)


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
    subject, predicate, depth = "", "", 0
    tokens = _Tokens(path, _TURTLE, "Turtle")
    for match in tokens:
        kind, token = match.lastgroup or "", match[match.lastgroup or 0]
        mark = match["mark"] or ""
        if mark and mark in "[(":
            depth += 1
        elif mark and mark in "])":
            depth -= 1
            if depth < 0:
                tokens.fail(f"a bracket too many in {quoted(subject)}")
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
            iri = TYPE if predicate == "a" else iri_of(predicate, prefixes)
            yield Triple(subject, iri, value, match["tag"] or match["language"] or "")
    if depth or subject:  # what follows an open bracket would be lost
        tokens.fail(f"the end of the file within {quoted(subject)}")


@dataclass
class _Call:
    """A name with arguments in brackets; calls among the arguments are left out."""

    name: str = ""
    arguments: list[str] = field(default_factory=list)
    language: str = ""  # of the last argument


def read_functional(path: Path) -> Iterator[Triple]:
    """Give what is declared or annotated, and the named parents, in functional syntax; the other axioms are left out.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order.

    Raises:
        PelError: at text that is not in this syntax; names the line.
    """
    prefixes = dict(NAMESPACES)
    calls = [_Call()]
    tokens = _Tokens(path, _FUNCTIONAL, "OWL functional syntax")
    for match in tokens:
        call = calls[-1]
        if match["mark"] == "(":
            calls.append(_Call(call.arguments.pop() if call.arguments else ""))
        elif match["mark"]:
            calls.pop()
            if not calls:
                tokens.fail("a bracket too many")
            yield from _triples(call, calls[-1], prefixes)
        elif match["text"] is not None:
            call.arguments.append(unescape(match["text"]))
            call.language = match["language"] or ""
        elif match["iri"] is not None:
            call.arguments.append(match["iri"])
        elif word := match["word"]:
            call.arguments.append(word if call.name == "Prefix" else node_of(word, prefixes))
    if len(calls) > 1:
        tokens.fail("an open bracket at the end")


def _triples(call: _Call, outer: _Call, prefixes: dict[str, str]) -> Iterator[Triple]:
    arguments = call.arguments
    if call.name == "Prefix" and arguments:
        prefixes[arguments[0].partition(":")[0]] = arguments[-1]
    elif call.name == "Class" and outer.name == "Declaration" and arguments:
        yield Triple(arguments[0], TYPE, CLASS)
    elif call.name == "Ontology" and arguments:
        yield Triple(arguments[0], TYPE, ONTOLOGY)
        yield from (Triple(arguments[0], VERSION_IRI, version) for version in arguments[1:2])
    elif call.name == "Annotation" and outer.name == "Ontology" and outer.arguments and len(arguments) == 2:
        predicate, value = arguments
        yield Triple(outer.arguments[0], iri_of(predicate, prefixes), value, call.language)
    elif call.name == "SubClassOf" and len(arguments) == 2:  # one argument: the parent is an expression
        yield Triple(arguments[0], SUBCLASS, arguments[1])
    elif call.name == "AnnotationAssertion" and len(arguments) == 3:
        predicate, subject, value = arguments
        yield Triple(subject, iri_of(predicate, prefixes), value, call.language)


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


# how each OWL syntax begins, after blanks and comments: a name in .owl does not say which it is
_SYNTAXES: tuple[tuple["re.Pattern[bytes]", Callable[[Path], Iterator[Triple]]], ...] = (
    (re.compile(rb"<(?:[?!]|(?:rdf:)?RDF\b|(?:owl:)?Ontology\b)"), read_owl_xml),
    (re.compile(rb"(?:Prefix|Ontology)\s*\("), read_functional),
    (re.compile(rb"@?(?:prefix|base)\s|<http", re.IGNORECASE), read_turtle),
)


def read_turtle_terms(path: Path) -> Iterator[Term]:
    """Of a Turtle file; NIFSTD has organisms as individuals."""
    return terms_of_triples(read_turtle(path), individuals=True)


def read_owl(path: Path) -> Iterator[Term]:
    """Read an OWL ontology in RDF/XML, OWL/XML, functional syntax or Turtle.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order.

    Raises:
        PelError: if the file begins like none of these, or is damaged.
    """
    with open_bytes(path) as file:
        try:
            start = file.read(1 << 16)
        except READ_ERRORS:
            start = b"<?"  # the reader reports what is wrong with the file
    begin = _BLANKS.match(start)
    for pattern, read in _SYNTAXES:
        if pattern.match(start, begin.end() if begin else 0):
            yield from terms_of_triples(read(path))
            return
    got = quoted(start[:40].decode("utf8", errors="replace"))
    todo = "Convert it, e.g. with: robot convert -i FILE -o FILE.obo"
    raise unexpected(path, "OWL in RDF/XML, OWL/XML, functional syntax or Turtle", got, todo)

"""Triples of OWL in the syntaxes that are plain text: Turtle, and functional syntax (.ofn), in which many
ontologies are edited and some are published.

Written by hand: rdflib 7.6 builds a graph of all triples before the first term and takes 12.6 s of CPU
time for the nine files of NIFSTD in Turtle, this reader 1.6 s.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from ..errors import quoted
from ..util import read_text
from ..util.files import Place, unexpected
from .obo import unescape
from .owl import CLASS, NAMESPACES, ONTOLOGY, SUBCLASS, TYPE, VERSION_IRI, Triple, iri_of, node_of

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

"""Triples of OWL in functional syntax (.ofn), in which many ontologies are edited and some are published."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ....errors import quoted
from ....util import read_text
from ..place import Place, unexpected
from .obo import unescape
from .owl import CLASS, NAMESPACES, ONTOLOGY, TYPE, VERSION_IRI, Triple, iri_of, node_of

_TOKEN = re.compile(
    r"\s+|\#[^\n]*"
    r'|"(?P<text>(?:[^"\\]|\\.)*)"(?:@(?P<language>[\w-]+)|\^\^(?:<[^<>]*>|[^\s()]+))?'
    r"|<(?P<iri>[^<>\s]*)>|(?P<mark>[()])|(?P<word>[^\s()<>\"]+)",
    re.DOTALL,
)


@dataclass
class _Call:
    """A name with arguments in brackets; calls among the arguments are left out."""

    name: str = ""
    arguments: list[str] = field(default_factory=list)
    language: str = ""  # of the last argument


def read_functional(path: Path) -> Iterator[Triple]:
    """Give what is declared or annotated; the other axioms are left out.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order.

    Raises:
        PelError: at text that is not in this syntax; names the line.
    """
    text = read_text(path)
    prefixes = dict(NAMESPACES)
    calls = [_Call()]
    end = 0
    while calls and (match := _TOKEN.match(text, end)):
        end = match.end()
        call = calls[-1]
        if match["mark"] == "(":
            calls.append(_Call(call.arguments.pop() if call.arguments else ""))
        elif match["mark"]:
            calls.pop()
            if calls:
                yield from _triples(call, calls[-1], prefixes)
        elif match["text"] is not None:
            call.arguments.append(unescape(match["text"]))
            call.language = match["language"] or ""
        elif match["iri"] is not None:
            call.arguments.append(match["iri"])
        elif word := match["word"]:
            call.arguments.append(word if call.name == "Prefix" else node_of(word, prefixes))
    if len(calls) != 1 or end < len(text):
        got = "an open bracket at the end" if calls else "a bracket too many"
        got = quoted(text[end : end + 40]) if calls and text[end:] else got
        raise unexpected(Place(path, text.count("\n", 0, end) + 1), "OWL functional syntax", got)


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
    elif call.name == "AnnotationAssertion" and len(arguments) == 3:
        predicate, subject, value = arguments
        yield Triple(subject, iri_of(predicate, prefixes), value, call.language)

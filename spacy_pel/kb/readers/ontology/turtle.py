"""Triples of an OWL ontology in Turtle: the part of the grammar that ontology files use.

Statements are read one after the other; blank nodes in brackets (logical definitions)
are skipped, since they name nothing.

Written by hand: rdflib 7.6 builds a graph of all triples before the first term and takes 12.6 s of CPU
time for the nine files of NIFSTD, this reader 1.6 s.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from ....errors import PelError, quoted
from ....util import read_text
from ..place import Place, unexpected
from .obo import unescape
from .owl import NAMESPACES, TYPE, Triple, iri_of, node_of

_TOKEN = re.compile(
    r'"""(?P<long>(?:[^\\]|\\.)*?)"""(?:\^\^\S+?(?=[\s,;.\]])|@[\w-]+)?'
    r'|"(?P<text>(?:[^"\\\n]|\\.)*)"(?:\^\^[^\s,;\]]+|@[\w-]+)?'
    r"|<(?P<iri>[^<>\s]*)>"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<mark>[;,\[\]()]|\.(?=\s|$))"
    r"|(?P<word>[^\s;,\[\]()<>\"\#]+?(?=[\s;,\[\]()]|\.\s|$))",
    re.DOTALL,
)
_END = ("end", "", "")


def _tokens(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    """Kind (text, iri, mark, word), text and language of each token."""
    place = 0
    while True:
        while place < len(text) and text[place].isspace():
            place += 1
        if place == len(text):
            return
        match = _TOKEN.match(text, place)
        if match is None:
            raise _unexpected(path, text, place, quoted(text[place : place + 40]))
        place = match.end()
        kind = match.lastgroup or ""
        if kind in ("long", "text"):
            suffix = match[0].rpartition('"')[2]
            yield "text", unescape(match[kind]), suffix[1:] if suffix.startswith("@") else ""
        elif kind != "comment":
            yield kind, match[kind], ""


def _unexpected(path: Path, text: str, place: int, got: str) -> PelError:
    return unexpected(Place(path, text.count("\n", 0, place) + 1), "Turtle", got)


def read_turtle(path: Path) -> Iterator[Triple]:
    """Give the triples of a Turtle file whose subject has a name.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order.

    Raises:
        PelError: at text that is not Turtle; names the line.
    """
    text = read_text(path)
    prefixes = dict(NAMESPACES)
    subject, predicate, depth = "", "", 0
    for kind, token, language in chain(_tokens(text, path), [_END]):
        if kind == "end":
            if depth or subject:  # what follows an open bracket would be lost
                raise _unexpected(path, text, len(text), f"the end of the file within {quoted(subject)}")
        elif kind == "mark" and token in "[(":
            depth += 1
        elif kind == "mark" and token in "])":
            depth -= 1
            if depth < 0:
                raise _unexpected(path, text, len(text), f"a bracket too many in {quoted(subject)}")
        elif depth or (kind, token) == ("mark", ","):  # a comma: one more value
            continue
        elif kind == "mark":
            subject, predicate = subject if token == ";" else "", ""
        elif not subject:
            subject = node_of(token, prefixes) if kind == "word" else token
        elif not predicate:
            predicate = token
        elif subject.lower() in ("@prefix", "prefix"):
            prefixes[predicate.removesuffix(":")] = token
            subject, predicate = subject if subject[0] == "@" else "", ""  # which ends with a full stop
        else:
            value = node_of(token, prefixes) if kind == "word" else token
            iri = TYPE if predicate == "a" else iri_of(predicate, prefixes)
            yield Triple(subject, iri, value, language)

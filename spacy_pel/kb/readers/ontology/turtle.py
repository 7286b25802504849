"""Terms of an OWL ontology in Turtle: the part of the grammar that ontology files use.

Statements are read one after the other; blank nodes in brackets (logical definitions)
are skipped, since they name nothing.

Written by hand: rdflib 7.6 builds a graph of all triples before the first term and takes 12.6 s of CPU
time for the nine files of NIFSTD, this reader 1.6 s.
"""

import re
from itertools import chain
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

from ....errors import Errors, PelError, quoted
from ....util import read_text
from .obo import unescape
from .term import Term

_TOKEN = re.compile(
    r'"""(?P<long>(?:[^\\]|\\.)*?)"""(?:\^\^\S+?(?=[\s,;.\]])|@[\w-]+)?'
    r'|"(?P<text>(?:[^"\\\n]|\\.)*)"(?:\^\^[^\s,;\]]+|@[\w-]+)?'
    r"|<(?P<iri>[^<>\s]*)>"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<mark>[;,\[\]()]|\.(?=\s|$))"
    r"|(?P<word>[^\s;,\[\]()<>\"\#]+?(?=[\s;,\[\]()]|\.\s|$))",
    re.DOTALL,
)
_END = ("end", "")
_NAMED = {"owl:Class", "owl:NamedIndividual"}
_NAMES = ("rdfs:label", "skos:prefLabel")
_SYNONYMS = {
    "skos:altLabel": "exact",
    "NIFRID:synonym": "exact",
    "NIFRID:acronym": "exact",
    "NIFRID:abbrev": "exact",
    "oboInOwl:hasExactSynonym": "exact",
    "oboInOwl:hasRelatedSynonym": "related",
    "oboInOwl:hasNarrowSynonym": "narrow",
    "oboInOwl:hasBroadSynonym": "broad",
}
_DEFINITIONS = ("skos:definition", "definition:", "NIFRID:birnlexDefinition")
_CUIS = ("NIFRID:UmlsCui", "NIFRID:umls_ID")


def read_turtle(path: Path) -> Iterator[Term]:
    """Give the classes and named individuals of a Turtle file.

    path (Path): the file, plain or gzipped.
    YIELDS (Term): in file order, deprecated ones included.
    RAISES (PelError): at text that is not Turtle; names the line.
    """
    text = read_text(path)
    for subject, values in _statements(text, path):
        if _NAMED.isdisjoint(values.get("a", [])):
            continue
        yield Term(
            id=subject,
            name=next((values[key][0] for key in _NAMES if key in values), ""),
            synonyms=[(value, scope) for key, scope in _SYNONYMS.items() for value in values.get(key, [])],
            definition=next((values[key][0] for key in _DEFINITIONS if key in values), None),
            xrefs=[f"UMLS:{cui.strip()}" for key in _CUIS for cui in values.get(key, [])]
            + values.get("oboInOwl:hasDbXref", []),
            obsolete="true" in values.get("owl:deprecated", []),
            replaced_by=values.get("replacedBy:", []),
        )


def _tokens(text: str, path: Path) -> Iterator[Tuple[str, str]]:
    """YIELDS (Tuple[str, str]): (kind, text) of each token: text, iri, mark, word."""
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
        if kind != "comment":
            yield ("text", unescape(match[kind])) if kind in ("long", "text") else (kind, match[kind])


def _unexpected(path: Path, text: str, place: int, got: str) -> PelError:
    where = f"{path}, line {text.count(chr(10), 0, place) + 1}"
    return PelError(Errors.E002.format(expected="Turtle", path=where, got=got, todo="Fix the file."))


def _statements(text: str, path: Path) -> Iterator[Tuple[str, Dict[str, List[str]]]]:
    """YIELDS (Tuple[str, Dict[str, List[str]]]): a subject and its values by predicate."""
    subject, predicate, depth = "", "", 0
    values: Dict[str, List[str]] = {}
    for kind, token in chain(_tokens(text, path), [_END]):
        if (kind, token) == _END:
            if depth or subject:  # what follows an open bracket would be lost
                raise _unexpected(path, text, len(text), f"the end of the file within {quoted(subject)}")
            return
        if kind == "mark" and token in "[(":
            depth += 1
        elif kind == "mark" and token in "])":
            depth -= 1
            if depth < 0:
                raise _unexpected(path, text, len(text), f"a bracket too many in {quoted(subject)}")
        elif depth:
            continue
        elif kind == "mark" and token == ".":
            if not subject.startswith("@"):
                yield subject, values
            subject, predicate, values = "", "", {}
        elif kind == "mark" and token == ";":
            predicate = ""
        elif kind == "mark":  # a comma: one more value
            continue
        elif not subject:
            subject = token
        elif not predicate:
            predicate = token
        else:
            values.setdefault(predicate, []).append(token)

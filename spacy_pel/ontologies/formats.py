"""The reader for each kind of ontology file."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import quoted
from ..util.files import READ_ERRORS, ending_of, open_bytes, unexpected
from .json_terms import read_term_json
from .obo import read_obo
from .owl import Triple, terms_of_triples
from .owl_text import read_functional, read_turtle
from .owl_xml import read_owl_xml
from .tables import read_ncit_table
from .term import Term

# how each OWL syntax begins, after blanks and comments: a name in .owl does not say which it is
_SYNTAXES: tuple[tuple["re.Pattern[bytes]", Callable[[Path], Iterator[Triple]]], ...] = (
    (re.compile(rb"<(?:[?!]|(?:rdf:)?RDF\b|(?:owl:)?Ontology\b)"), read_owl_xml),
    (re.compile(rb"(?:Prefix|Ontology)\s*\("), read_functional),
    (re.compile(rb"@?(?:prefix|base)\s|<http", re.IGNORECASE), read_turtle),
)
_BLANKS = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*\n)*")


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


FORMATS: dict[str, Callable[[Path], Iterator[Term]]] = {
    ".obo": read_obo,
    ".json": read_term_json,
    ".txt": read_ncit_table,
    **dict.fromkeys((".owl", ".rdf", ".owx", ".ofn"), read_owl),
    ".ttl": read_turtle_terms,
}


def read_terms(path: Path) -> Iterator[Term]:
    """Read the terms of an ontology file by the ending of its name (before .gz).

    Args:
        path: the file.

    Yields:
        In file order, obsolete ones included.

    Raises:
        PelError: for an unknown ending and for a damaged file.
    """
    ending = ending_of(path)
    if ending not in FORMATS:
        expected = f"an ontology file ({', '.join(FORMATS)}, each also with .gz)"
        raise unexpected(path, expected, f"a name that ends in {ending!r}", "Rename or convert the file.")
    yield from FORMATS[ending](path)

"""The reader for each kind of ontology file."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ....errors import Errors, PelError, quoted
from ....util import read_json
from ....util.files import READ_ERRORS, ending_of, open_bytes
from .functional import read_functional
from .ncit import read_ncit_table
from .obo import read_obo
from .obograph import terms_of_graphs
from .oncotree import terms_of_oncotree
from .owl import Triple, terms_of_triples
from .owl_xml import read_owl_xml
from .term import Term
from .term_list import terms_of_list
from .turtle import read_turtle


def read_term_json(path: Path) -> Iterator[Term]:
    """Read an OBO graph, a compact list of terms or OncoTree's tree, distinguished by their shape.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order.

    Raises:
        PelError: if the JSON has none of these shapes.
    """
    data = read_json(path)
    try:
        yield from _reader_of(data)(data)
    except (KeyError, TypeError, AttributeError, RecursionError) as err:
        raise PelError(
            Errors.E002.format(
                expected='an OBO graph {"graphs": [{"nodes": [...]}]}, a list of {"id", "name", ...} '
                "or OncoTree's tree",
                path=path,
                got=f"{quoted(data)} ({type(err).__name__}: {err})",
                todo="Check the file.",
            )
        ) from err


def _reader_of(data: Any) -> Callable[[Any], Iterator[Term]]:
    if isinstance(data, list):
        return terms_of_list
    return terms_of_graphs if "graphs" in data else terms_of_oncotree


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
    raise PelError(
        Errors.E002.format(
            expected="OWL in RDF/XML, OWL/XML, functional syntax or Turtle",
            path=path,
            got=quoted(start[:40].decode("utf8", errors="replace")),
            todo="Convert it, e.g. with: robot convert -i FILE -o FILE.obo",
        )
    )


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
    path = Path(path)
    ending = ending_of(path)
    if ending not in FORMATS:
        raise PelError(
            Errors.E002.format(
                expected=f"an ontology file ({', '.join(FORMATS)}, each also with .gz)",
                path=path,
                got=f"a name that ends in {ending!r}",
                todo="Rename or convert the file.",
            )
        )
    yield from FORMATS[ending](path)

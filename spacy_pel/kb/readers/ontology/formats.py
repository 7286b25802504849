"""The reader for each kind of ontology file."""

from pathlib import Path
from typing import Any, Callable, Dict, Iterator

from ....errors import Errors, PelError, quoted
from ....util import read_json
from .obo import read_obo
from .obograph import terms_of_graphs
from .oncotree import terms_of_oncotree
from .term import Term
from .term_list import terms_of_list
from .turtle import read_turtle


def read_term_json(path: Path) -> Iterator[Term]:
    """Read an OBO graph, a compact list of terms or OncoTree's tree, distinguished by their shape.

    path (Path): the file, plain or gzipped.
    YIELDS (Term): in file order.
    RAISES (PelError): if the JSON has none of these shapes.
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


FORMATS: Dict[str, Callable[[Path], Iterator[Term]]] = {
    ".obo": read_obo,
    ".json": read_term_json,
    ".ttl": read_turtle,
}


def read_terms(path: Path) -> Iterator[Term]:
    """Read the terms of an ontology file by the ending of its name (before .gz).

    path (Path): the file.
    YIELDS (Term): in file order, obsolete ones included.
    RAISES (PelError): for an unknown ending and for a damaged file.
    """
    path = Path(path)
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
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

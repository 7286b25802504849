"""What only the merging of ontologies reads and asks: tables of terms, SSSOM mappings, and what terms are below."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError, quoted
from ..ontologies import Term
from ..ontologies.term import cell_parts
from ..util import read_lines
from ..util.files import Place, unexpected
from ..util.parsing import read_cells
from .merge_config import MergeSource

FIELDS = ("id", "name", "synonyms", "definition", "xrefs", "types", "parents")
_LISTS = ("xrefs", "parents", "types", "replaced_by", "consider", "alt_ids")
_SSSOM = ("subject_id", "predicate_id", "object_id")
_LABEL = "subject_label"


def read_table(path: Path, columns: Sequence[str | None], source: MergeSource) -> Iterator[Term]:
    """Stream the lines of a tab-separated table; several lines may describe the same term.

    Args:
        path: the file, plain or gzipped.
        columns: what each column holds: "id", "name", "synonyms",
            "definition", "xrefs", "types", "parents", or None (ignored).
        source: says how the table is to be read.

    Yields:
        One per line.

    Raises:
        PelError: for a column of unknown meaning and at a line with too few columns; names the line.
    """
    position = {name: at for at, name in enumerate(columns) if name is not None}
    if "id" not in position or not position.keys() <= set(FIELDS):
        raise PelError(Errors.E141.format(path=path, got=list(columns), known=", ".join(FIELDS)))
    n_needed = max(position.values()) + 1
    # plain exports do not escape quotation marks
    rows = read_cells(path, read_lines(path), quotes=source.header)
    names = next(rows, (1, []))[1] if source.header else []
    if unknown := sorted(set(source.where) - set(names)):
        todo = "Fix the settings 'where' and 'header'."
        raise unexpected(Place(path, 1), f"a header with {', '.join(unknown)}", quoted(names), todo)
    wanted = [(names.index(name), values) for name, values in source.where.items()]
    n_needed = max([n_needed, *(at + 1 for at, _ in wanted)])

    for number, row in rows:
        if len(row) < n_needed or not row[position["id"]]:
            expected, todo = f"an id and {n_needed} columns", "Fix the line, or change the setting 'columns'."
            raise unexpected(Place(path, number), expected, f"{len(row)}: {quoted(row)}", todo)
        if any(row[at].strip() not in values for at, values in wanted):
            continue
        cells = {name: row[at].strip() for name, at in position.items()}
        several = {name: cell_parts(cells.get(name, ""), source.separator) for name in FIELDS}
        yield Term(
            id=_with_prefix(cells["id"], source.id_prefix),
            name=cells.get("name", ""),
            synonyms=[(text, "exact") for text in several["synonyms"]],
            definition=cells.get("definition") or None,
            xrefs=[_with_prefix(xref, source.xref_prefix) for xref in several["xrefs"]],
            types=several["types"],
            parents=[_with_prefix(parent, source.id_prefix) for parent in several["parents"]],
            line=number,
        )


def _with_prefix(text: str, prefix: str) -> str:
    return text if text.startswith(prefix) else prefix + text


def merged(terms: Sequence[Term]) -> Term:
    """What several files or lines say about one term: the first name, definition and namespace, and all values
    of lists. Other names become exact synonyms."""
    first = terms[0]
    if len(terms) == 1:
        return first
    name = next((term.name for term in terms if term.name), "")
    synonyms = list(first.synonyms)
    for term in terms[1:]:
        synonyms += [(term.name, "exact")] if term.name not in ("", name) else []
        synonyms += term.synonyms
    joined: Any = {name: list(dict.fromkeys(one for term in terms for one in getattr(term, name))) for name in _LISTS}
    return replace(
        first,
        name=name,
        synonyms=list(dict.fromkeys(synonyms)),
        definition=next((term.definition for term in terms if term.definition), None),
        namespace=next((term.namespace for term in terms if term.namespace), ""),
        obsolete=any(term.obsolete for term in terms),
        **joined,
    )


def read_sssom(path: Path) -> Iterator[tuple[str, str, str]]:
    """Stream the exact matches of an SSSOM table.

    Args:
        path: the file, plain or gzipped; lines that begin with # are its header.

    Yields:
        Ids of subject and object, and the subject's label, "" if the table has none.

    Raises:
        PelError: if a needed column is missing or is there twice, and at a row with other columns than
            the header or without CURIEs; names the line.
    """
    lines = ((number, line) for number, line in read_lines(path) if not line.startswith("#"))
    rows = read_cells(path, lines)
    number, header = next(rows, (1, []))
    if any(header.count(name) != 1 for name in _SSSOM) or header.count(_LABEL) > 1:
        expected = f"an SSSOM table with the columns {', '.join(_SSSOM)}, each once"
        raise unexpected(Place(path, number), expected, quoted(header))
    for number, cells in rows:
        if len(cells) != len(header):
            expected = f"{len(header)} cells as in the header"
            raise unexpected(Place(path, number), expected, len(cells))
        row = dict(zip(header, cells, strict=True))
        subject, predicate, target = (row[name] for name in _SSSOM)
        if predicate != "skos:exactMatch":
            continue
        for curie in (subject, target):
            prefix, _, identifier = curie.partition(":")
            if not prefix or not identifier or not curie.isprintable():
                raise unexpected(Place(path, number), "ids as PREFIX:ID", quoted(curie))
        yield subject, target, row.get(_LABEL, "")


def nearest_ancestors(term: Term, terms: Mapping[str, Term], wanted: Container[str]) -> Iterator[str]:
    """The first wanted term on each way up from a term.

    Args:
        term: where to start; it does not count itself.
        terms: the ontology, by id.
        wanted: ids of terms.

    Yields:
        Ids, the nearest first.
    """
    seen = {term.id}
    queue = list(term.parents)
    for term_id in queue:  # which grows
        if term_id in seen:
            continue
        seen.add(term_id)
        if term_id in wanted:
            yield term_id
        elif term_id in terms:
            queue += terms[term_id].parents


def own_ingredients(parents: Sequence[str], called: Mapping[str, str]) -> list[str]:
    """The parents of a drug without combinations ("a / b") that hold more than its ingredients: a table may list every
    combination of an ingredient with a brand.

    Args:
        parents: their ids.
        called: the names of the ids that the table has.
    """
    names = {parent: called.get(parent, parent) for parent in parents}
    return [parent for parent, name in names.items() if set(name.split(" / ")) <= set(names.values())]


def branch_of(term: Term, terms: Mapping[str, Term], roots: Collection[str]) -> str:
    """The nearest of some roots that a term is below, or is itself.

    Args:
        term: the term.
        terms: the ontology, by id.
        roots: ids of terms.

    Returns:
        The root's id; "" = none.
    """
    if term.id in roots:
        return term.id
    return next(nearest_ancestors(term, terms, roots), "") if roots else ""


def xref_ids(xrefs: Sequence[str], prefix: str) -> list[str]:
    """The distinct ids after ``prefix:``, in any case."""
    parts = (xref.partition(":") for xref in xrefs)
    return list(dict.fromkeys(number for name, _, number in parts if name.lower() == prefix.lower() and number))

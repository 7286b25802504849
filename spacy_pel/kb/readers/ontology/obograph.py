"""Terms of an OBO-graph JSON file (``{"graphs": [{"nodes": [...]}]}``)."""

import re
from collections.abc import Iterator
from typing import Any

from ....errors import quoted
from .owl import compact_id
from .term import Term
from .values import record_of, records_of, text_of

_REPLACED_BY = "http://purl.obolibrary.org/obo/IAO_0100001"
_CONSIDER = "http://www.geneontology.org/formats/oboInOwl#consider"
_ALT_ID = "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId"
_VERSION = "http://www.w3.org/2002/07/owl#versionInfo"
_NAMESPACE = "http://www.geneontology.org/formats/oboInOwl#hasOBONamespace"


def terms_of_graphs(data: dict[str, Any]) -> Iterator[Term]:
    """Give the classes of all graphs.

    Args:
        data: the file's content.

    Yields:
        In file order, deprecated ones included.
    """
    data["graphs"]  # there must be some
    for graph in records_of(data, "graphs"):
        ontology = re.sub(r"\.\w+$", "", str(graph.get("id", "")).rsplit("/", 1)[-1])
        version = _version(record_of(graph, "meta"))
        for node in records_of(graph, "nodes"):
            # some writers leave the type out; properties and individuals always have one
            if node.get("type", "CLASS") == "CLASS":
                try:
                    yield _term(node, ontology, version)
                except TypeError as err:
                    raise TypeError(f"{err} of {quoted(node.get('id'))}") from err


def _version(meta: dict[str, Any]) -> str:
    values = records_of(meta, "basicPropertyValues")
    found = (text_of(one, "val") for one in values if one.get("pred") == _VERSION)
    return next(found, "") or text_of(meta, "version")


def _term(node: dict[str, Any], ontology: str, version: str) -> Term:
    meta = record_of(node, "meta")
    values: dict[str, list[str]] = {}
    for value in records_of(meta, "basicPropertyValues"):
        values.setdefault(text_of(value, "pred"), []).append(str(value.get("val", "")))
    return Term(
        id=compact_id(text_of(node, "id") or node["id"]),
        name=text_of(node, "lbl"),
        synonyms=[
            # "hasExactSynonym" -> "exact"
            (text_of(one, "val"), text_of(one, "pred").removeprefix("has").removesuffix("Synonym").lower())
            for one in records_of(meta, "synonyms")
        ],
        definition=text_of(record_of(meta, "definition"), "val") or None,
        xrefs=[compact_id(text_of(xref, "val")) for xref in records_of(meta, "xrefs")],
        namespace=values.get(_NAMESPACE, [ontology])[0],
        version=version,
        obsolete=bool(meta.get("deprecated")),
        replaced_by=[compact_id(iri) for iri in values.get(_REPLACED_BY, [])],
        consider=[compact_id(iri) for iri in values.get(_CONSIDER, [])],
        alt_ids=[compact_id(iri) for iri in values.get(_ALT_ID, [])],
    )

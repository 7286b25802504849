"""Terms of an OBO-graph JSON file (``{"graphs": [{"nodes": [...]}]}``)."""

import re
from typing import Any, Dict, Iterator

from .term import Term

# ".../obo/NCIT_C17425" or ".../ORDO/Orphanet_124"
_IRI = re.compile(r"^https?://.*[/#]([A-Za-z][A-Za-z.]*)_([A-Za-z0-9.-]+)$")
_REPLACED_BY = "http://purl.obolibrary.org/obo/IAO_0100001"
_ALT_ID = "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId"
_VERSION = "http://www.w3.org/2002/07/owl#versionInfo"
_NAMESPACE = "http://www.geneontology.org/formats/oboInOwl#hasOBONamespace"


def compact_id(iri: str) -> str:
    """RETURNS (str): "NCIT:C17425" for ".../NCIT_C17425"; other text as it is."""
    match = _IRI.match(iri)
    return f"{match.group(1)}:{match.group(2)}" if match else iri


def terms_of_graphs(data: Dict[str, Any]) -> Iterator[Term]:
    """Give the classes of all graphs.

    data (Dict[str, Any]): the file's content.
    YIELDS (Term): in file order, deprecated ones included.
    """
    for graph in data["graphs"]:
        ontology = re.sub(r"\.\w+$", "", str(graph.get("id", "")).rsplit("/", 1)[-1])
        version = _version(graph.get("meta") or {})
        for node in graph.get("nodes", []):
            # some writers leave the type out; properties and individuals always have one
            if node.get("type", "CLASS") == "CLASS":
                yield _term(node, ontology, version)


def _version(meta: Dict[str, Any]) -> str:
    found = (one.get("val") for one in meta.get("basicPropertyValues", []) if one.get("pred") == _VERSION)
    return str(next(found, None) or meta.get("version") or "")


def _term(node: Dict[str, Any], ontology: str, version: str) -> Term:
    meta = node.get("meta") or {}
    name = node.get("lbl") or ""
    if not isinstance(name, str):
        raise TypeError(f"the label {name!r} of {node['id']}")
    values: Dict[str, list] = {}
    for value in meta.get("basicPropertyValues", []):
        values.setdefault(value.get("pred", ""), []).append(str(value.get("val", "")))
    return Term(
        id=compact_id(node["id"]),
        name=name,
        synonyms=[
            # "hasExactSynonym" -> "exact"
            (synonym["val"], synonym.get("pred", "").removeprefix("has").removesuffix("Synonym").lower())
            for synonym in meta.get("synonyms", [])
        ],
        definition=(meta.get("definition") or {}).get("val"),
        xrefs=[compact_id(xref["val"]) for xref in meta.get("xrefs", [])],
        namespace=values.get(_NAMESPACE, [ontology])[0],
        version=version,
        obsolete=bool(meta.get("deprecated")),
        replaced_by=[compact_id(iri) for iri in values.get(_REPLACED_BY, [])],
        alt_ids=[compact_id(iri) for iri in values.get(_ALT_ID, [])],
    )

"""Terms of an OBO-graph JSON file (``{"graphs": [{"nodes": [...]}]}``)."""

import re
from typing import Any, Dict, Iterator

from .term import Term

# ".../obo/NCIT_C17425" or ".../ORDO/Orphanet_124"
_IRI = re.compile(r"^https?://.*[/#]([A-Za-z][A-Za-z.]*)_([A-Za-z0-9.-]+)$")
_REPLACED_BY = "http://purl.obolibrary.org/obo/IAO_0100001"
_ALT_ID = "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId"
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
        for node in graph.get("nodes", []):
            # some writers leave the type out; properties and individuals always have one
            if node.get("type", "CLASS") == "CLASS":
                yield _term(node, ontology)


def _term(node: Dict[str, Any], ontology: str) -> Term:
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
        obsolete=bool(meta.get("deprecated")),
        replaced_by=[compact_id(iri) for iri in values.get(_REPLACED_BY, [])],
        alt_ids=[compact_id(iri) for iri in values.get(_ALT_ID, [])],
    )

"""Terms of OncoTree's JSON: a tree of tumour types with UMLS and NCIt references."""

from typing import Any, Dict, Iterator

from .term import Term


def terms_of_oncotree(data: Dict[str, Any]) -> Iterator[Term]:
    """Give the nodes of the tree, parents before their children.

    data (Dict[str, Any]): the file's content: code -> node.
    YIELDS (Term): with ids like "ONCOTREE:OVARY"; codes of former releases are alternative ids.
    """
    for code, node in data.items():
        yield Term(
            id=f"ONCOTREE:{code}",
            name=node["name"],
            xrefs=[
                f"{namespace}:{number}"
                for namespace, numbers in (node.get("externalReferences") or {}).items()
                for number in numbers
            ],
            namespace="oncotree",
            alt_ids=[f"ONCOTREE:{old}" for old in node.get("history", [])],
        )
        yield from terms_of_oncotree(node.get("children") or {})

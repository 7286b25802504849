"""Terms of OncoTree's JSON: a tree of tumour types with UMLS and NCIt references."""

from collections.abc import Iterator
from typing import Any

from .term import Term
from .values import record_of, text_of, texts_of


def terms_of_oncotree(data: dict[str, Any]) -> Iterator[Term]:
    """Give the nodes of the tree, parents before their children.

    Args:
        data: the file's content: code -> node.

    Yields:
        With ids like "ONCOTREE:OVARY"; codes of former releases are alternative ids.
    """
    for code, node in data.items():
        yield Term(
            id=f"ONCOTREE:{code}",
            name=text_of(node, "name") or node["name"],
            xrefs=[
                f"{namespace}:{number}"
                for references in [record_of(node, "externalReferences")]
                for namespace in references
                for number in texts_of(references, namespace)
            ],
            namespace="oncotree",
            alt_ids=[f"ONCOTREE:{old}" for old in texts_of(node, "history")],
        )
        yield from terms_of_oncotree(record_of(node, "children"))

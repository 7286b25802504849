"""Linked documents as one HTML page that needs no other file."""

from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...types import NIL
from .entity_urls import entity_url
from .link_rows import NOTE, link_row, show

Record = Dict[str, Any]


def render_links(
    documents: Iterable[Record],
    *,
    title: str,
    name_of: Callable[[str], str],
    url_of: Callable[[str], Optional[str]] = entity_url,
    description: str = "",
) -> str:
    """Show mentions in their text: colour and line tell linked from NIL, ids are links, and the
    candidates with their scores appear on hover or keyboard focus.

    documents (Iterable[Dict[str, Any]]): as ``spacy-pel link`` writes them.
    title (str): of the page.
    name_of (Callable): id -> name.
    url_of (Callable): id -> address or None.
    description (str): a line below the title.
    RETURNS (str): the page. All text in it is escaped.
    """
    environment = Environment(
        loader=PackageLoader("spacy_pel.evaluation.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(name_of=name_of, url_of=url_of, show=show, NIL=NIL)
    shown = [
        {
            "id": document["id"],
            "pieces": pieces(document["text"], document["mentions"]),
            "rows": [link_row(mention, name_of) for mention in document["mentions"]],
        }
        for document in documents
    ]
    template = environment.get_template("links.html")
    return template.render(title=title, description=description, documents=shown, note=NOTE)


def pieces(text: str, mentions: Sequence[Record]) -> List[Record]:
    """Cut a text at its mentions. Of two mentions that overlap the first is shown in the text.

    text (str): the document.
    mentions (Sequence[Dict[str, Any]]): with ``start`` and ``end``.
    RETURNS (List[Dict[str, Any]]): ``text`` and ``mention`` (None between mentions); the texts
        joined give the document.
    """
    found: List[Record] = []
    done = 0
    for mention in sorted(mentions, key=lambda mention: (mention["start"], -mention["end"])):
        start, end = mention["start"], mention["end"]
        if start < done:
            continue
        found += [{"text": text[done:start], "mention": None}, {"text": text[start:end], "mention": mention}]
        done = end
    return [piece for piece in [*found, {"text": text[done:], "mention": None}] if piece["text"]]

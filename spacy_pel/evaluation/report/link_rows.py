"""A link as the cells of a table, the same for the terminal and for the page."""

from typing import Any, Callable, Dict, NamedTuple

from ...types import NIL

NOTE = "Score and runner-up of a NIL: its NIL score, and the best candidate that was turned down."


class LinkRow(NamedTuple):
    """One mention; all texts.

    mention, label: as in the document.
    kb_id, name: the entity; "NIL" and "–" if there is none.
    score: of the entity, or the NIL score of a NIL.
    runner_up: name, id and score of the second-best candidate; of a NIL the best one.
    """

    mention: str
    label: str
    kb_id: str
    name: str
    score: str
    runner_up: str


def link_row(record: Dict[str, Any], name_of: Callable[[str], str]) -> LinkRow:
    """RETURNS (LinkRow): the cells of one mention, given as ``spacy-pel link`` writes it.

    record (Dict[str, Any]): the mention.
    name_of (Callable): id -> name.
    """
    is_nil = record["kb_id"] == NIL
    others = [(id, score) for id, score in record["candidates"] if id != record["kb_id"]]
    runner_up = "–"
    if others:
        entity_id, score = others[0]
        runner_up = f"{name_of(entity_id)} ({entity_id}) {show(score)}"
    return LinkRow(
        mention=" ".join(record["text"].split()),
        label=record["label"],
        kb_id=record["kb_id"] or "–",
        name=record["name"] or "–",
        score=show(record["nil_score"] if is_nil else record["score"]),
        runner_up=runner_up,
    )


def show(score: Any) -> str:
    return "–" if score is None else f"{score:.3f}"

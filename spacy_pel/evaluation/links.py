"""Linked documents as one HTML page that needs no other file, links as table rows, and the web pages of entities."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..types import NIL, Entity
from ..types.semantic_types import SEMANTIC_GROUPS, mention_group, type_name

# pattern of the whole id, address; the first match counts, {id} is its first group
ENTITY_URLS: Sequence[tuple[str, str]] = (
    (r"(?:UMLS:)?(C[0-9]{7})", "https://uts.nlm.nih.gov/uts/umls/concept/{id}"),
    (r"(?:MESH:)?([CD](?:[0-9]{6}|[0-9]{9}))", "https://meshb.nlm.nih.gov/record/ui?ui={id}"),
    (r"(?:OMIM|MIM):([0-9]{6})", "https://omim.org/entry/{id}"),
    (r"(?:ORPHA|Orphanet):([0-9]+)", "https://www.orpha.net/en/disease/detail/{id}"),
    (r"(HP:[0-9]{7})", "https://hpo.jax.org/browse/term/{id}"),
    (r"(MONDO:[0-9]{7})", "https://monarchinitiative.org/{id}"),
    (r"(DOID:[0-9]+)", "https://disease-ontology.org/term/{id}"),
    (r"RXNORM:([0-9]+)", "https://mor.nlm.nih.gov/RxNav/search?searchBy=RXCUI&searchTerm={id}"),
    (r"NCIT:(C[0-9]+)", "https://evsexplore.semantics.cancer.gov/evsexplore/concept/ncit/{id}"),
    (r"SNOMEDCT:([0-9]+)", "https://browser.ihtsdotools.org/?perspective=full&conceptId1={id}"),
    (r"ICD10:([A-Z][0-9]{2}(?:\.[0-9]+)?)", "https://icd.who.int/browse10/2019/en#/{id}"),
    (r"([A-Za-z][A-Za-z0-9.]*:[A-Za-z0-9_.-]+)", "https://bioregistry.io/{id}"),  # knows most vocabularies
)


def entity_url(entity_id: str) -> str | None:
    """The page of an entity.

    Args:
        entity_id: an id of a knowledge base, or a cross reference.

    Returns:
        The address; None if no pattern matches.
    """
    for pattern, url in ENTITY_URLS:
        if found := re.fullmatch(pattern, entity_id):
            return url.replace("{id}", quote(found.group(1), safe=":"))
    return None


Record = dict[str, Any]
PROBABILITY = "P(right)"
NOTE = (
    f"{PROBABILITY} is that of the answer, id or NIL. The number after the runner-up is its score. For NIL, the "
    "runner-up is the best candidate, which was rejected."
)


class LinkRow(NamedTuple):
    """A link as the cells of a table, the same in the terminal and on the page; all texts.

    mention, label: as in the document.
    kb_id, name: of the entity; "NIL" and "–" if there is none.
    probability: P(right) of the answer.
    runner_up: name, id and score of the second-best candidate; for NIL of the best one.
    """

    mention: str
    label: str
    kb_id: str
    name: str
    probability: str
    runner_up: str


def link_row(record: Record, entity_of: Callable[[str], Entity]) -> LinkRow:
    """The cells of one mention, given as ``spacy-pel link`` writes it.

    Args:
        record: the mention.
        entity_of: id -> entity.
    """
    others = [(id, score) for id, score in record["candidates"] if id != record["kb_id"]]
    runner_up = "–"
    if others:
        entity_id, score = others[0]
        runner_up = f"{entity_of(entity_id).canonical_name} ({entity_id}) {show(score)}"
    surface, kb_id, name = " ".join(record["text"].split()), record["kb_id"] or "–", record["name"] or "–"
    return LinkRow(surface, record["label"], kb_id, name, show(record["probability"]), runner_up)


def show(score: float | None) -> str:
    """With three decimals; "–" for None."""
    return "–" if score is None else f"{score:.3f}"


def render_links(
    documents: Iterable[Record],
    *,
    title: str,
    entity_of: Callable[[str], Entity],
    forms_of: Callable[[Entity], object] = lambda _: "",
    description: str = "",
) -> str:
    """Show mentions in their text. Colour and underline give the semantic group of the entity, or else of the label;
    NIL is dashed. Ids are links; a card about the entity, and the candidates with their scores, appear on hover or
    keyboard focus.

    Args:
        documents: as ``spacy-pel link`` writes them.
        title: of the page.
        entity_of: id -> entity.
        forms_of: what annotated text calls an entity.
        description: a line below the title.

    Returns:
        The page. All text in it is escaped.
    """

    def group_of(mention: Record) -> str:
        return mention_group(mention["label"], entity_of(mention["kb_id"]).types if mention["name"] else ())

    def style_of(mention: Record) -> str:
        group = group_of(mention)
        return f"nil {group}".rstrip() if mention["kb_id"] == NIL else group or other

    shown: list[Record] = []
    groups: set[str] = set()
    for document in documents:
        mentions = document["mentions"]
        rows = [link_row(mention, entity_of) for mention in mentions]
        groups.update(group for mention in mentions if (group := group_of(mention)) or mention["name"])
        shown.append({"id": document["id"], "pieces": pieces(document["text"], mentions), "rows": rows})
    other = "other" if any(groups) else ""  # without a group
    names = {**SEMANTIC_GROUPS, "": "no semantic group" if other else "linked"}
    legend = {group or other: name for group, name in names.items() if group in groups}
    functions = {"entity_of": entity_of, "forms_of": forms_of, "url_of": entity_url, "style_of": style_of}
    functions |= {"show": show, "type_names": lambda entity: " · ".join(map(type_name, entity.types))}
    texts = {"title": title, "description": description, "note": NOTE, "PROBABILITY": PROBABILITY}
    return render_template("links.html", documents=shown, legend=legend, **functions, **texts)


def pieces(text: str, mentions: Sequence[Record]) -> list[Record]:
    """Cut a text at its mentions. Of two overlapping mentions only the first is shown in the text.

    Args:
        text: the document.
        mentions: with ``start`` and ``end``.

    Returns:
        ``text`` and ``mention`` (None between mentions); the texts
        joined give the document.
    """
    found: list[Record] = []
    done = 0
    for mention in sorted(mentions, key=lambda mention: (mention["start"], -mention["end"])):
        start, end = mention["start"], mention["end"]
        if start < done:
            continue
        found += [{"text": text[done:start], "mention": None}, {"text": text[start:end], "mention": mention}]
        done = end
    return [piece for piece in [*found, {"text": text[done:], "mention": None}] if piece["text"]]


def render_template(name: str, *folders: Path, **values: Any) -> str:
    """An HTML page from a template, with all text escaped.

    Args:
        name: of the file.
        folders: where it is, besides this one, which has the look of all pages.
        values: what the template uses.

    Raises:
        UndefinedError: if the template uses a value that is not given.
    """
    loader = FileSystemLoader([Path(__file__).parent, *folders])
    layout: Any = {"trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, **layout)
    return environment.get_template(name, globals=values).render()

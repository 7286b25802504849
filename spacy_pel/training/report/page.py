"""Evaluations as one HTML page that needs no other file: tables, figures and an error browser."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from ...evaluation.links import entity_url, render_template


class Cell(NamedTuple):
    """Text in a table; ``small`` follows it in small print, e.g. an interval."""

    text: str
    small: str = ""


class Table(NamedTuple):
    """A table.

    Attributes:
        title, note: above and below it.
        header: of the columns; the first column names the row.
        rows: as wide as the header.
        spans: headings over several columns, with their widths; may be empty.
    """

    title: str
    note: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    spans: Sequence[tuple[str, int]] = ()


class ShownEntity(NamedTuple):
    """An entity in the error browser.

    Attributes:
        id, name: of the KB; the name may be "".
        rank: among the candidates, or why there is none.
        score: None if it is not a candidate.
        is_gold, is_chosen: it is the corpus' or the linker's answer.
    """

    id: str
    name: str
    rank: str
    score: float | None
    is_gold: bool
    is_chosen: bool


class ShownError(NamedTuple):
    """An error in the error browser.

    Attributes:
        run, kind: keys of the page's ``runs`` and ``kinds``.
        types: the mention's label and the KB types of its gold entities, semantic types by name.
        before, mention, after: the mention in its context.
        style: of the mention, a class of page.css: the semantic group of the answer, "nil", or "" = neither.
        where: document and offsets.
        answer: the id chosen, "NIL", or "" if the mention was not found.
        why: a sentence.
        entities: gold entities that were not found, then candidates by rank.
    """

    run: str
    kind: str
    types: Sequence[str]
    before: str
    mention: str
    after: str
    style: str
    where: str
    answer: str
    why: str
    entities: Sequence[ShownEntity]


class Page(NamedTuple):
    """The content of the page.

    Attributes:
        title, description: at its top.
        runs: name -> note; the order decides the colours.
        tables: in their order.
        figures: title -> SVG, from ``figures.inline_svg``.
        kinds: kind of error -> what it means.
        counts: run -> kind -> number of errors, shown or not.
        errors: those shown.
    """

    title: str
    description: str
    runs: Mapping[str, str]
    tables: Sequence[Table]
    figures: Mapping[str, Markup]
    kinds: Mapping[str, str]
    counts: Mapping[str, Mapping[str, int]]
    errors: Sequence[ShownError]


def render_report(page: Page) -> str:
    """The HTML page. All text in it is escaped, and it loads nothing from elsewhere.

    Args:
        page: its content.
    """
    from ...evaluation.figures import COLORS  # with matplotlib, which the page of links does not need

    types = sorted({name for error in page.errors for name in error.types if name})
    return render_template(
        "report.html", Path(__file__).parent, page=page, url_of=entity_url, types=types, n_styles=len(COLORS)
    )

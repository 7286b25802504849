"""Evaluations as one HTML page that needs no other file: tables, charts and an error browser."""

from typing import Callable, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from .entity_urls import entity_url
from .svg_chart import N_STYLES, Chart


class Cell(NamedTuple):
    """Text in a table; ``small`` stands behind it, e.g. an interval."""

    text: str
    small: str = ""


class Table(NamedTuple):
    """A table.

    title, note (str): above and below it.
    header (Sequence[str]): of the columns, the first of which names the row.
    rows (Sequence[Sequence[Cell]]): as wide as the header.
    spans (Sequence[Tuple[str, int]]): headings over several columns, or nothing.
    """

    title: str
    note: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    spans: Sequence[Tuple[str, int]] = ()


class ShownEntity(NamedTuple):
    """An entity in the error browser.

    id, name (str): of the KB; the name may be "".
    place (str): rank, or why there is none.
    score (Optional[float]): None if it is no candidate.
    is_gold, is_chosen (bool): the corpus says so, the linker says so.
    """

    id: str
    name: str
    place: str
    score: Optional[float]
    is_gold: bool
    is_chosen: bool


class ShownError(NamedTuple):
    """An error in the error browser.

    run, kind (str): keys of the page's ``runs`` and ``kinds``.
    types (Sequence[str]): the mention's label and the KB types of its gold entities.
    before, mention, after (str): the mention in its context.
    place (str): document and offsets.
    said (str): the id chosen, or "NIL".
    why (str): a sentence.
    entities (Sequence[ShownEntity]): gold entities that were not found, then candidates by rank.
    """

    run: str
    kind: str
    types: Sequence[str]
    before: str
    mention: str
    after: str
    place: str
    said: str
    why: str
    entities: Sequence[ShownEntity]


class Page(NamedTuple):
    """What is on the page.

    title, description (str): at its top.
    runs (Mapping[str, str]): name -> what there is to say about it; the order gives the colours.
    tables, charts: in their order.
    kinds (Mapping[str, str]): kinds of errors -> what they mean.
    counts (Mapping[str, Mapping[str, int]]): run -> kind -> how many errors there are, shown or not.
    errors (Sequence[ShownError]): those shown.
    """

    title: str
    description: str
    runs: Mapping[str, str]
    tables: Sequence[Table]
    charts: Sequence[Chart]
    kinds: Mapping[str, str]
    counts: Mapping[str, Mapping[str, int]]
    errors: Sequence[ShownError]


def render_report(page: Page, *, url_of: Callable[[str], Optional[str]] = entity_url) -> str:
    """RETURNS (str): the HTML page. All text in it is escaped, and nothing is fetched from elsewhere.

    page (Page): its content.
    url_of (Callable): id -> address or None.
    """
    environment = Environment(
        loader=PackageLoader("spacy_pel.evaluation.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    types: List[str] = sorted({name for error in page.errors for name in error.types if name})
    environment.globals.update(url_of=url_of, n_styles=N_STYLES, types=types, twice=_twice)
    return environment.get_template("report.html").render(page=page)


def _twice(values: Iterable[str]) -> List[Tuple[str, str]]:
    """For choices that are shown as they are."""
    return [(value, value) for value in values]

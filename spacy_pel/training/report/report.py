"""A report of one or more evaluations, with its figures in the colours and the font of its page."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from ...evaluation.figures import COLORS, GREY, nil_figure, recall_figure, reliability_figure, risk_figure
from ...evaluation.links import entity_url, render_template
from ...evaluation.metrics.groups import GROUPINGS, MentionGroups
from ...evaluation.metrics.probabilities import RankedAnswers, reliability_curve
from ...evaluation.outcomes import Prediction, Run, read_run
from ...kb import KnowledgeBase
from .compare import run_names
from .errors import KINDS, ErrorSample, shown_error, texts_of
from .tables import difference_table, group_tables, metric_table, relation_table, run_notes

_INLINE_SIZE = (4.8, 4.0)  # inches; the same for all, so that their texts have the same size
# what report.css calls these colours, which differ between a light and a dark page
_PAGE_COLORS = {
    **{color: f"var(--s{number})" for number, color in enumerate(COLORS)},
    **{"#000000": "var(--quiet)", "#b0b0b0": "var(--quiet)", GREY: "var(--quiet)", "#ffffff": "var(--page)"},
}


class Report(NamedTuple):
    """A finished report.

    Attributes:
        html: the page.
        errors: run -> kind -> number of errors, shown or not.
        n_shown: number of errors on the page.
    """

    html: str
    errors: dict[str, dict[str, int]]
    n_shown: int


class _Reading(NamedTuple):
    run: Run
    groups: dict[str, MentionGroups]
    errors: ErrorSample

    def threshold(self, label: str) -> float | None:
        """Of NIL, for mentions with this label."""
        by_label = self.run.metrics.get("threshold_by_label") or {}
        return by_label.get(label, self.run.metrics.get("threshold"))  # type: ignore[no-any-return]


def make_report(
    paths: Sequence[Path],
    *,
    corpora: Sequence[Path] = (),
    kb: KnowledgeBase | None = None,
    title: str = "Entity linking",
    max_errors: int = 200,
) -> Report:
    """Make the page.

    Args:
        paths: folders that ``evaluate`` wrote; the other runs are compared with the first.
        corpora: the corpora that were evaluated, for the context of errors.
        kb: gives names, and the types of gold entities.
        title: of the page.
        max_errors: errors shown of each kind, all runs together.

    Returns:
        The page and counts.

    Raises:
        PelError: if a folder is not an evaluation, or a corpus not the one that was evaluated.
    """
    per_run = max(1, max_errors // len(paths)) if max_errors else 0
    names = run_names(paths)
    read = {name: _read(path, kb, per_run) for name, path in zip(names, paths, strict=True)}
    runs = {name: reading.run for name, reading in read.items()}
    masks = {name: {key: groups.masks() for key, groups in reading.groups.items()} for name, reading in read.items()}
    cases = [(name, case) for name, reading in read.items() for case in reading.errors.cases()]
    texts = texts_of(corpora, {prediction.doc for _, (_, prediction) in cases}) if corpora else None
    errors = [
        shown_error(name, case, threshold=read[name].threshold(case[1].label), texts=texts, kb=kb)
        for name, case in cases
    ]
    tables = [metric_table(runs), difference_table(runs), relation_table(runs), *group_tables(runs, masks)]
    counts = {name: reading.errors.counts for name, reading in read.items()}
    kinds = {kind: text for kind, text in KINDS.items() if any(of_run[kind] for of_run in counts.values())}
    errors.sort(key=lambda error: list(KINDS).index(error.kind))
    shown = [table for table in tables if table]
    figures = inline_figures(runs)
    page: dict[str, Any] = {"title": title, "description": _description(runs), "runs": run_notes(runs), "tables": shown}
    page |= {"figures": figures, "kinds": kinds, "counts": counts, "errors": errors}
    return Report(render_report(page), counts, len(errors))


def render_report(page: dict[str, Any]) -> str:
    """The HTML page, with an error browser. All text in it is escaped, and it loads nothing from elsewhere.

    Args:
        page: its content: "title" and "description"; "runs", name -> note, whose order decides the colours; "tables";
            "figures", title -> SVG; "kinds" of errors and what they mean; "counts", run -> kind -> number of errors,
            shown or not; "errors", those shown (``ShownError``).
    """
    types = sorted({name for error in page["errors"] for name in error.types if name})
    return render_template(
        "report.html", Path(__file__).parent, page=page, url_of=entity_url, types=types, n_styles=len(COLORS)
    )


def _read(path: Path, kb: KnowledgeBase | None, n_errors: int) -> _Reading:
    errors = ErrorSample(n_errors)
    groups = {key: MentionGroups(groups_of) for key, groups_of in GROUPINGS.items()}
    watch = [partial(fill_types, kb)] if kb else []
    return _Reading(read_run(path, watch=[*watch, *(one.add for one in groups.values()), errors.add]), groups, errors)


def fill_types(kb: KnowledgeBase, prediction: Prediction) -> None:
    """Add the types of the gold entities to a prediction that has none."""
    live = {kb.resolve(entity_id) for entity_id in prediction.gold} - {None}
    types = {name for entity_id in live if entity_id for name in kb[entity_id].types}
    prediction.types = prediction.types or sorted(types)


def _description(runs: dict[str, Run]) -> str:
    first = next(iter(runs.values()))
    if len(runs) == 1:
        return f"{len(first.mentions):,} mentions in {first.metrics['n_documents']:,} documents."
    return f"{len(runs)} evaluations."


def inline_svg(figure: Any, name: str, *, title: str) -> Markup:
    """Render a figure as SVG for a page with report.css, which sets its colours and font.

    Args:
        figure: of matplotlib, without a legend; the page names the runs.
        name: goes into the ids, so that those of two figures on a page differ.
        title: read aloud in place of the figure.

    Returns:
        One <svg> element; the same for the same data.
    """
    from matplotlib import rc_context

    file = StringIO()
    settings: Any = {"svg.hashsalt": "spacy-pel", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}
    with rc_context(settings):
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=True, metadata=no_metadata)
    svg = re.sub(r"^.*?(?=<svg)|<defs>\s*<style.*?</defs>", "", file.getvalue(), flags=re.DOTALL)
    svg = re.sub(r"#[0-9a-f]{6}\b", lambda found: _PAGE_COLORS.get(found[0], found[0]), svg)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    label = Markup('<svg role="img" aria-label="{}"').format(title)
    return Markup(svg.replace("<svg", label, 1))  # matplotlib has escaped the texts


def inline_figures(runs: Mapping[str, Run]) -> dict[str, Markup]:
    """Title -> SVG of the figures for which there are data; each has a line per run, in the order of the runs.

    Args:
        runs: name -> run.
    """
    outcomes = {name: run.outcomes for name, run in runs.items()}
    drawn = {"recall": recall_figure({name: run.metrics for name, run in runs.items()})}
    if any(of_run.is_nil.any() for of_run in outcomes.values()):
        drawn["nil"] = nil_figure(outcomes)
        if any(reliability_curve(of_run.nil_score, of_run.is_nil) for of_run in outcomes.values()):
            drawn["reliability"] = reliability_figure(outcomes)
    if any(RankedAnswers(of_run.probability, of_run.correct) for of_run in outcomes.values()):
        drawn["risk"] = risk_figure(outcomes)
    figures = {}
    for name, (figure, axes) in drawn.items():
        title = axes.get_title()
        axes.set_title("")  # the page has it above the figure
        figure.set_size_inches(*_INLINE_SIZE)
        figures[title] = inline_svg(figure, name, title=title)
    return figures

"""A report of one or more evaluations."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...evaluation.figures import COLORS, inline_figures
from ...evaluation.links import entity_url, render_template
from ...evaluation.metrics.groups import GROUPINGS, MentionGroups
from ...evaluation.outcomes import Prediction, Run, read_run, run_names
from ...kb import KnowledgeBase
from .errors import KINDS, ErrorSample, shown_error, texts_of
from .tables import difference_table, group_tables, metric_table, relation_table, run_notes


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
    watch: Sequence[Callable[[Prediction], None]] = (),
    title: str = "Entity linking",
    max_errors: int = 200,
    n_samples: int = 1000,
    seed: int = 0,
) -> Report:
    """Make the page.

    Args:
        paths: folders that ``evaluate`` wrote; the other runs are compared with the first.
        corpora: the corpora that were evaluated, for the context of errors.
        kb: gives names.
        watch: called with each prediction as it is read.
        title: of the page.
        max_errors: errors shown of each kind, all runs together.
        n_samples: bootstrap samples of the differences.
        seed: random seed of the bootstrap and of the sample of errors.

    Returns:
        The page and counts.

    Raises:
        PelError: if a folder is not an evaluation, or a corpus not the one that was evaluated.
    """
    per_run = max(1, max_errors // len(paths)) if max_errors else 0
    names = run_names(paths)
    read = {name: _read(path, watch, per_run, seed) for name, path in zip(names, paths, strict=True)}
    runs = {name: reading.run for name, reading in read.items()}
    masks = {name: {key: groups.masks() for key, groups in reading.groups.items()} for name, reading in read.items()}
    cases = [(name, case) for name, reading in read.items() for case in reading.errors.cases()]
    texts = texts_of(corpora, {prediction.doc for _, (_, prediction) in cases}) if corpora else None
    errors = [
        shown_error(name, case, threshold=read[name].threshold(case[1].label), texts=texts, kb=kb)
        for name, case in cases
    ]
    difference = difference_table(runs, n_samples=n_samples, seed=seed)
    tables = [metric_table(runs), difference, relation_table(runs), *group_tables(runs, masks)]
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


def _read(path: Path, watch: Sequence[Callable[[Prediction], None]], n_errors: int, seed: int) -> _Reading:
    errors = ErrorSample(n_errors, seed=seed)
    groups = {key: MentionGroups(groups_of) for key, groups_of in GROUPINGS.items()}
    watchers: list[Callable[[Prediction], None]] = [*watch, *(one.add for one in groups.values()), errors.add]
    return _Reading(read_run(path, watch=watchers), groups, errors)


def _description(runs: dict[str, Run]) -> str:
    first = next(iter(runs.values()))
    if len(runs) == 1:
        return f"{len(first.mentions):,} mentions in {first.metrics['n_documents']:,} documents."
    return f"{len(runs)} evaluations."

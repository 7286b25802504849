"""The study as a table, with the paper's figures beside ours."""

from statistics import mean
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence

from .claims import Claim
from .plan import PaperRun

HEAD = [
    "run",
    "recall@1",
    "recall@64",
    "NIL auPR",
    "NIL P / R",
    "all@1",
    "all@64",
    "minutes",
    "paper @1 / @64",
    "paper NIL auPR",
]


def study_rows(results: Sequence[Dict[str, Any]], paper: Iterable[PaperRun]) -> List[List[str]]:
    """Rows of the table.

    results (Sequence[Dict]): from ``run_study``.
    paper (Iterable[PaperRun]): the paper's figures.
    RETURNS (List[List[str]]): a row for each label under HEAD, in percent; means over the seeds,
        intervals where there is one seed.
    """
    rows, figures = [], {run.label: run.figures for run in paper}
    for label in dict.fromkeys(result["label"] for result in results):
        same = [result for result in results if result["label"] == label]
        theirs = figures.get(label, {})
        rows.append(
            [
                label,
                _figure(same, "recall@1"),
                _figure(same, "recall@64"),
                _figure(same, "nil_aupr"),
                f"{_percent(same, 'nil_precision')} / {_percent(same, 'nil_recall')}",
                _percent(same, "recall_all@1"),
                _percent(same, "recall_all@64"),
                f"{mean(one['train_seconds'] for one in same) / 60:.1f}",
                _paper(theirs, "recall@1", "recall@64"),
                _paper(theirs, "nil_aupr"),
            ]
        )
    return rows


def claim_rows(claims: Sequence[Claim]) -> List[List[str]]:
    """RETURNS (List[List[str]]): claim, both sides, difference with its interval, verdict; in points."""
    rows = []
    for text, found in ((claim.text, claim.difference) for claim in claims):
        interval = f"{100 * found.difference:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
        rows.append([text, f"{100 * found.a:.1f}", f"{100 * found.b:.1f}", interval])
    for row, claim in zip(rows, claims, strict=True):
        row.append(claim.verdict)
    return rows


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """RETURNS (str): a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _paper(figures: Mapping[Any, float], *keys: str) -> str:
    """RETURNS (str): the figures that there are, e.g. "63.3 / 95.9"."""
    return " / ".join(f"{figures[key]:.1f}" for key in keys if key in figures) or "–"


def _percent(same: Sequence[Dict[str, Any]], key: str) -> str:
    value = _mean(same, key)
    return "–" if value is None else f"{100 * value:.1f}"


def _figure(same: Sequence[Dict[str, Any]], key: str) -> str:
    low, high = same[0].get(f"{key}_low"), same[0].get(f"{key}_high")
    if len(same) > 1 or low is None or high is None:
        return _percent(same, key)
    return f"{_percent(same, key)} [{100 * low:.1f}, {100 * high:.1f}]"


def _mean(same: Sequence[Dict[str, Any]], key: str) -> Optional[float]:
    values = [one[key] for one in same if one.get(key) is not None]
    return mean(values) if values else None

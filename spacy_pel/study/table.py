"""The study in the form of the paper's Tables 2 to 5, with the paper's figures beside ours."""

from statistics import mean
from typing import Any, Dict, List, Optional, Sequence

from ..evaluation.margins import paper_figures
from .claims import Claim

# Wiatrak et al. (2022), MedMentions ST21pv, UMLS of 2.36 million entities: recall@1, recall@64.
# Random: Table 2, 64 negatives. Mixed: 32 negatives (FGSM was only run so), from Tables 2 and 3.
PAPER = {
    "CE random plain": (55.7, 94.0),
    "Pb random plain": (63.3, 95.9),
    "CE mixed plain": (72.1, 95.5),
    "Pb mixed plain": (71.6, 93.3),
    "CE mixed FGSM": (72.3, 95.5),
    "Pb mixed FGSM": (72.4, 93.7),
}
# Table 4 was made with 64 mixed negatives: it stands beside these runs, and those with a margin.
_TABLE_4 = {"Pb mixed plain": "Pb 0", "CE mixed plain": "CE"}
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


def study_rows(results: Sequence[Dict[str, Any]]) -> List[List[str]]:
    """RETURNS (List[List[str]]): a row for each label under HEAD, in percent; means over the seeds,
    intervals where there is one seed."""
    rows = []
    for label in dict.fromkeys(result["label"] for result in results):
        same = [result for result in results if result["label"] == label]
        paper = PAPER.get(label)
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
                f"{paper[0]} / {paper[1]}" if paper else "–",
                _paper_nil(label),
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


def _paper_nil(label: str) -> str:
    known = _TABLE_4.get(label, label if label.startswith("Pb 0.") else "")
    found = paper_figures(known)
    return f"{100 * found['nil_aupr']:.1f}" if found else "–"


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

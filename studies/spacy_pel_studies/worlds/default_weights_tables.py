"""Tables of ``research default-weights``."""

from typing import Any

import numpy as np

from ..markdown import markdown_table

POLICY = (
    "recall@1 in percent, over mentions / over surface forms, of mentions whose entity is in the KB. "
    "current: with the default weights; others: with weights fitted on the other worlds; own: with weights "
    "fitted on the task itself, as a bound."
)
_KINDS = ("current", "others", "own")


def as_markdown(report: dict[str, Any]) -> str:
    """Markdown tables: recall by task, and the weights.

    Args:
        report: the content of default_weights.json.
    """
    results = report["results"]
    rows = [[one["task"], f"{one['mentions']:,}", *(_cell([one], kind) for kind in _KINDS)] for one in results]
    rows.append(["mean", "", *(_cell(results, kind) for kind in _KINDS)])
    weights = [[name, f"{report['current'][name]:g}", f"{value:g}"] for name, value in report["weights"].items()]
    parts = [
        POLICY,
        markdown_table(["", "mentions", *_KINDS], rows, numbers=True),
        "## Weights, fitted on all worlds",
        markdown_table(["feature", "current", "fitted"], weights, numbers=True),
    ]
    return "\n\n".join(parts) + "\n"


def _cell(results: list[dict[str, Any]], kind: str) -> str:
    means = (float(np.mean([one[key] for one in results])) for key in (kind, f"{kind}_forms"))
    return " / ".join(f"{100 * value:.1f}" for value in means)

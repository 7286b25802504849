"""Tables of ``research default-nil``."""

from collections.abc import Sequence
from typing import Any

from ..markdown import markdown_table

_COLUMNS = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "aupr": "auPR",
    "aupr_score": "auPR of 1 - score",
    "lost": "linkable lost",
    "right_lost": "right links lost",
    "accuracy": "accuracy",
    "accuracy_linked": "all linked",
}
POLICY = (
    "Each world is measured with weights fitted on the others. NIL is the positive class, a third of the "
    "mentions. linkable lost: share of the mentions whose entity is in the KB that become NIL; right links "
    "lost: the same of those whose first candidate is right. accuracy: right decisions, NIL included; all "
    "linked: the same if every mention with a candidate is linked. Means over tasks, in percent."
)


def as_markdown(report: dict[str, Any]) -> str:
    """Markdown tables in percent: by world, by system, by size, and the weights.

    Args:
        report: the content of default_nil.json.
    """
    parts = [POLICY]
    for vectors, title in ((True, "By vectors"), (False, "By names")):
        results = [one for one in report["results"] if one["vectors"] == vectors]
        if not results:
            continue
        rows = [
            [world, *_means([one for one in results if one["world"] == world])]
            for world in dict.fromkeys(one["world"] for one in results)
        ]
        systems = list(dict.fromkeys(one["system"] for one in results))
        small = {world: min(r["entities"] for r in results if r["world"] == world) for world in report["worlds"]}
        for name, is_small in (("large KBs", False), ("small KBs", True)):
            own = [one for one in results if (one["entities"] == small[one["world"]]) == is_small]
            rows.append([name, *_means(own)])
        rows += [[system, *_means([one for one in results if one["system"] == system])] for system in systems]
        for system in systems:
            own = [one["both"] for one in results if one["system"] == system and "both" in one]
            if own:
                rows.append([f"{system}, left out as well", *_means(own)])
        rows.append(["mean", *_means(results)])
        parts += [f"## {title}", markdown_table(["", *_COLUMNS.values()], rows, numbers=True)]
    weights = [
        [kind, ", ".join(f"{name} {value:.2f}" for name, value in own.items())]
        for kind, own in report["weights"].items()
    ]
    parts += ["## Weights, fitted on all worlds", markdown_table(["", "weights"], weights)]
    return "\n\n".join(parts) + "\n"


def _means(results: Sequence[dict[str, Any]]) -> list[str]:
    if not results:
        return ["–"] * len(_COLUMNS)
    return [f"{100 * sum(one[key] for one in results) / len(results):.1f}" for key in _COLUMNS]

"""The results as markdown: a table for each world, and one for their mean."""

from typing import Any, Dict, List

KS = (1, 4, 16, 64)


def as_markdown(report: Dict[str, Any]) -> str:
    """report (Dict[str, Any]): what ``worlds.json`` holds. RETURNS (str): tables in percent."""
    train, test = ", ".join(report["train"]), ", ".join(report["test"])
    parts = [f"Trained on {train}; tested on {test}. {report['policy']}"]
    for world in report["test"]:
        about = report["coverage"][world]
        title = f"{world}: {about['in_kb']:,} mentions of {about['documents']:,} documents, KB of "
        title += f"{about['entities']:,} entities ({about['outside_kb']:,} mentions outside it)"
        parts.append(_table(title, {name: s["groups"][world] for name, s in report["systems"].items()}))
    parts.append(_table("Mean over the worlds", {name: s["macro"] for name, s in report["systems"].items()}))
    parts.append(_table("All mentions", {name: s["micro"] for name, s in report["systems"].items()}))
    parts.append(
        _table(
            "Differences of the means (paired)",
            {name: s["macro"] for name, s in report["differences"].items()},
        )
    )
    parts.append(_new_names(report))
    return "\n\n".join(parts) + "\n"


def _table(title: str, rows: Dict[str, Dict[str, Any]]) -> str:
    lines = [
        f"**{title}**",
        "",
        "| | " + " | ".join(f"recall@{k}" for k in KS) + " |",
        "|---|" + "---:|" * len(KS),
    ]
    for name, figures in rows.items():
        cells = [
            f"{_percent(figures, k)} [{_percent(figures, k, '_low')}, {_percent(figures, k, '_high')}]"
            for k in KS
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _percent(figures: Dict[str, Any], k: int, end: str = "") -> str:
    return f"{100 * figures[f'recall@{k}{end}']:.1f}"


def _new_names(report: Dict[str, Any]) -> str:
    title = "recall@1 where the mention's surface is a name of the training worlds, and where it is not"
    worlds: List[str] = report["test"]
    head = [
        f"{world} {kind} ({report['names'][world][f'n_{kind}']:,})"
        for world in worlds
        for kind in ("known", "new")
    ]
    lines = [f"**{title}**", "", "| | " + " | ".join(head) + " |", "|---|" + "---:|" * len(head)]
    for name in report["systems"]:
        cells = [
            f"{100 * report['names'][world][kind][name]:.1f}" for world in worlds for kind in ("known", "new")
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)

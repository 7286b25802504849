"""Systems over several worlds (wikis, ontologies): their differences, and tables in Markdown."""

from typing import Any

from .group_recall import GroupTable, with_intervals

KS = (1, 4, 8, 16, 32, 64)  # Cai et al. 2023, Table 8, and recall@1
POLICY = (
    "recall@k of a world: share of its mentions whose gold entity is in the world's KB that have it among "
    "the first k distinct candidates. macro: mean over the worlds, of equal weight. micro: over all "
    "mentions. Intervals: 95% bootstrap, documents drawn with replacement; a document with mentions of "
    "several worlds is drawn for all of them together. Differences are taken within each draw (paired). "
    "recall@1 of reranked candidates is the ranker's unnormalised accuracy."
)


def world_difference(ours: GroupTable, theirs: GroupTable, *, n_samples: int = 1000, seed: int = 0) -> dict[str, Any]:
    """The difference of two systems on the same mentions.

    Args:
        ours, theirs: a group is a world.

    Returns:
        As ``recall_by_group``, of the differences.
    """
    left, right = ours.draws(n_samples, seed), theirs.draws(n_samples, seed)
    recall, macro, micro = (mine - other for mine, other in zip(left, right, strict=True))
    by_world = ours.recall() - theirs.recall()
    return {
        "groups": {
            world: with_intervals(ours.ks, by_world[:, w], recall[:, :, w]) for w, world in enumerate(ours.groups)
        },
        "macro": with_intervals(ours.ks, by_world.mean(axis=1), macro),
        "micro": with_intervals(ours.ks, ours.micro() - theirs.micro(), micro),
    }


def as_markdown(report: dict[str, Any]) -> str:
    """Markdown tables in percent: recall@1 of all worlds, then recall@k of each and the means.

    Args:
        report: the content of worlds.json.
    """
    worlds = [*report["val"], *(world for world in report["test"] if world not in report["val"])]
    validated = f"; validated on {', '.join(report['val'])}" if report["val"] else ""
    head = f"Trained on {', '.join(report['train'])}{validated}; tested on {', '.join(report['test'])}. "
    parts = [head + report["policy"], _first_ranks(report)]
    for world in worlds:
        about = report["coverage"][world]
        title = f"{world}: {about['in_kb']:,} mentions of {about['documents']:,} documents, KB of "
        title += f"{about['entities']:,} entities ({about['outside_kb']:,} mentions outside it)"
        systems = report["systems" if world in report["test"] else "val_systems"]
        parts.append(_table(title, {name: s["groups"][world] for name, s in systems.items()}))
    if report["val"]:
        of_val = report["val_systems"].items()
        parts.append(_table("Mean over the worlds of validation", {name: s["macro"] for name, s in of_val}))
        parts.append(_table("All mentions of validation", {name: s["micro"] for name, s in of_val}))
    parts.append(_table("Mean over the worlds", {name: s["macro"] for name, s in report["systems"].items()}))
    parts.append(_table("All mentions", {name: s["micro"] for name, s in report["systems"].items()}))
    parts.append(
        _table("Differences of the means (paired)", {name: s["macro"] for name, s in report["differences"].items()})
    )
    parts.append(_new_names(report, worlds))
    return "\n\n".join(parts) + "\n"


def _first_ranks(report: dict[str, Any]) -> str:
    """Recall@1 of all worlds in one table: validation, then test, each with mean and micro."""
    kinds = [("val", "val_systems"), ("test", "systems")] if report["val"] else [("test", "systems")]
    head = [f"{kind}: {name}" for kind, _ in kinds for name in (*report[kind], "mean", "all mentions")]
    lines = ["**recall@1**", "", "| | " + " | ".join(head) + " |", "|---|" + "---:|" * len(head)]
    for name in report["systems"]:
        cells = []
        for kind, systems in kinds:
            metrics = report[systems][name]
            shown = [*(metrics["groups"][world] for world in report[kind]), metrics["macro"], metrics["micro"]]
            cells += [_percent(one, 1) for one in shown]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _table(title: str, rows: dict[str, dict[str, Any]]) -> str:
    lines = [f"**{title}**", "", "| | " + " | ".join(f"recall@{k}" for k in KS) + " |", "|---|" + "---:|" * len(KS)]
    for name, metrics in rows.items():
        cells = [
            f"{_percent(metrics, k)} [{_percent(metrics, k, '_low')}, {_percent(metrics, k, '_high')}]" for k in KS
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _percent(metrics: dict[str, Any], k: int, end: str = "") -> str:
    return f"{100 * metrics[f'recall@{k}{end}']:.1f}"


def _new_names(report: dict[str, Any], worlds: list[str]) -> str:
    title = "recall@1 of mentions whose surface form is a name of the training worlds (known) or not (new)"
    head = [
        f"{world} {kind} ({report['names'][world][f'n_{kind}']:,})" for world in worlds for kind in ("known", "new")
    ]
    lines = [f"**{title}**", "", "| | " + " | ".join(head) + " |", "|---|" + "---:|" * len(head)]
    for name in report["systems"]:
        cells = [f"{100 * report['names'][world][kind][name]:.1f}" for world in worlds for kind in ("known", "new")]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)

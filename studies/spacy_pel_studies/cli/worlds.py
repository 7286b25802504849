"""The command ``research worlds``: zero-shot linking, trained on some worlds and tested on others."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_pel.cli._output import emit, message

from ._app import research_cli


@research_cli.command("worlds")
def worlds(
    output: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder for models, predictions, worlds.json and worlds.md.")
    ],
    config: Annotated[Path, typer.Option(metavar="FILE", help="A training config; its paths are set here.")],
    folder: Annotated[
        Path,
        typer.Option(
            "--worlds", metavar="FOLDER", help="Folder with one folder per world: kb, and train, dev, test.jsonl."
        ),
    ],
    train: Annotated[str, typer.Option(metavar="NAMES", help="Worlds to train on, separated by commas.")],
    test: Annotated[str, typer.Option(metavar="NAMES", help="Worlds to test on, separated by commas.")],
    val: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Further unseen worlds, for validation: reported beside the test worlds."),
    ] = "",
    model: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A trained encoder; without it, one is trained.")
    ] = None,
    ranker: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A ranker config: train it on the encoder's candidates, rerank with it."),
    ] = None,
    mixed: Annotated[
        bool, typer.Option("--mixed-batches", help="Mix several worlds in a batch, instead of one world per batch.")
    ] = False,
    split: Annotated[str, typer.Option(metavar="NAME", help="The split of the worlds in --test and --val.")] = "test",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the config, e.g. pel.training.max_steps=5, or of the ranker's config, e.g. "
            "ranker.training.max_steps=5 (repeatable).",
        ),
    ] = None,
    gpu_id: Annotated[int, typer.Option("--gpu-id", metavar="N", help="CUDA device; -1 = CPU.")] = -1,
    resume: Annotated[bool, typer.Option("--resume", help="Resume from the checkpoints of the trainings.")] = False,
) -> None:
    """Train on some ontologies or wikis, link to unseen ones.

    Example: spacy-pel research worlds metrics/worlds --config configs/worlds_minilm.cfg --worlds
    corpus/worlds --train CHEBI,GO,UBERON --test CL,MONDO
    """
    from spacy_pel.cli._settings import parse_settings

    from ..worlds.experiment import run_worlds
    from ..worlds.tables import as_markdown

    report = run_worlds(
        config,
        folder,
        _names(train),
        _names(test),
        output,
        val=_names(val),
        model=model,
        ranker=ranker,
        mixed=mixed,
        split=split,
        overrides=parse_settings(settings or [], exact=False),
        gpu_id=gpu_id,
        resume=resume,
    )
    message(f"Wrote {output}")
    emit(report, as_markdown)


def _names(given: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))

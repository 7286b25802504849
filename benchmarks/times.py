"""Tabulate training times and linking speeds from the folders of finished runs.

    python -m benchmarks.times "Pb=training/pb,metrics/pb,assets/pipeline" training/study/CE/seed0

A row is one folder, or a name and several folders joined by commas: of a training (metrics.jsonl,
steps.jsonl, model-best), a run of a study (evaluation/metrics.json), an evaluation (metrics.json), a model or
a pipeline. The folder of `candidates eval` (candidates.json) gives one row per generator. Nothing is run.
"""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from spacy_pel.errors import PelError
from spacy_pel.util import read_json, read_jsonl

HEAD = ["run", "training or building, min", "updates", "mentions/s", "linking, mentions/s", "model, MB", "linked on"]
_MODELS = ("encoder.json", "ranker.json", "config.cfg")  # their folders


class Times(NamedTuple):
    """Measurements in the files of a run; None = missing.

    Attributes:
        seconds: of training, evaluations included, or of building a generator.
        updates: of the weights.
        trained_per_second: mentions trained on.
        linked_per_second: mentions linked, or candidates found for them.
        model_bytes: files of the best model, or of the pipeline.
        machine: on which linking was measured.
    """

    seconds: float | None = None
    updates: int | None = None
    trained_per_second: float | None = None
    linked_per_second: float | None = None
    model_bytes: int | None = None
    machine: str | None = None


def read_times(folder: Path) -> Times:
    """What the files of a folder say.

    Raises:
        PelError: if there is no such folder, or a file is damaged.
    """
    if not folder.is_dir():
        raise PelError(f"Expected the folder of a run at {folder}, but there is none. Check the path.")
    known: dict[str, Any] = {}
    records = list(read_jsonl(folder / "metrics.jsonl")) if (folder / "metrics.jsonl").is_file() else []
    if records:
        known["seconds"] = records[-1].get("seconds")
        known["updates"] = records[-1]["step"]
        known["trained_per_second"] = records[-1].get("examples_per_second")
    if (folder / "steps.jsonl").is_file():
        steps = [record["step"] for record in read_jsonl(folder / "steps.jsonl")]
        known["updates"] = max([known.get("updates") or 0, *steps]) or None
    for name in ("metrics.json", "evaluation/metrics.json"):
        if (folder / name).is_file():
            metrics = read_json(folder / name)
            known["linked_per_second"] = metrics.get("mentions_per_second", known.get("linked_per_second"))
            known["machine"] = metrics.get("machine", known.get("machine"))
            known["seconds"] = known.get("seconds") or metrics.get("train_seconds")
    model = folder / "model-best" if (folder / "model-best").is_dir() else folder
    if model != folder or any((folder / name).is_file() for name in _MODELS):
        known["model_bytes"] = sum(file.stat().st_size for file in model.rglob("*") if file.is_file())
    return Times(**known)


def joined(parts: list[Times]) -> Times:
    """The first known value of each; for model sizes the last."""

    def first(values: tuple[Any, ...]) -> Any:
        return next((value for value in values if value is not None), None)

    columns = list(zip(*parts, strict=True))
    found = Times(*map(first, columns))
    return found._replace(model_bytes=first(columns[Times._fields.index("model_bytes")][::-1]))


def table_rows(run: str) -> list[list[str]]:
    """Args:
        run: "FOLDER", or "NAME=FOLDER,FOLDER".

    Returns:
        Its row, or one per generator in candidates.json.

    Raises:
        PelError: if there is no such folder, or a file is damaged.
    """
    name, equals, folders = run.partition("=")
    paths = [Path(part) for part in (folders if equals else name).split(",")]
    rows = []
    for path in [path for path in paths if (path / "candidates.json").is_file()]:
        for label, row in read_json(path / "candidates.json").get("generators", {}).items():
            found = Times(seconds=row.get("build_seconds"), linked_per_second=row.get("mentions_per_second"))
            rows.append(cells(f"{name}: {label}", found))
        paths.remove(path)
    return [*rows, *([cells(name, joined([read_times(path) for path in paths]))] if paths else [])]


def cells(name: str, times: Times) -> list[str]:
    """A row under HEAD."""
    minutes = None if times.seconds is None else times.seconds / 60
    megabytes = None if times.model_bytes is None else times.model_bytes / 1e6
    shown = [
        "–" if value is None else f"{value:{spec}}"
        for value, spec in (
            (minutes, ",.1f"),
            (times.updates, ",d"),
            (times.trained_per_second, ",.1f"),
            (times.linked_per_second, ",.1f"),
            (megabytes, ",.1f"),
        )
    ]
    return [name, *shown, times.machine or "–"]


def main(
    runs: Annotated[list[str], typer.Argument(help="FOLDER, or NAME=FOLDER[,FOLDER...]")],
    output: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
) -> None:
    """Print training and inference times of finished runs."""
    from spacy_pel_studies.markdown import markdown_table

    from spacy_pel.util import atomic_path

    try:
        rows = [row for run in runs for row in table_rows(run)]
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    table = markdown_table(HEAD, rows)
    typer.echo(table)
    if output is not None:
        with atomic_path(output) as part:
            part.write_text(table + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)

"""The command ``report``: evaluations as one HTML page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ._app import pel_cli
from ._output import JSON, emit, message

_LARGE = 5_000_000  # bytes


@pel_cli.command("report")
def report(
    dirs: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Folders that `evaluate` wrote; all others are compared with the first."
        ),
    ],
    output: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
    corpus: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="The evaluated corpus, to show errors in context (repeatable)."),
    ] = None,
    kb: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="KB or pipeline: source of names, and of types if the predictions lack them."
        ),
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Title of the page.")] = "Entity linking",
    max_errors: Annotated[
        int, typer.Option(metavar="N", min=0, help="Maximum number of errors shown of each kind, over all runs.")
    ] = 200,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of the bootstrap and of the errors shown.")] = 0,
    as_json: bool = JSON,
) -> None:
    """Write one HTML page with tables, curves and a browser of errors. It works offline.

    Example: spacy-pel report metrics/base metrics/new --corpus corpus/test.jsonl --kb training/pipeline
    """
    from ..evaluation.report.report import make_report
    from ..util import atomic_path
    from ._kb import fill_types, open_kb

    opened = open_kb(kb) if kb else None
    made = make_report(
        dirs,
        corpora=corpus or [],
        kb=opened,
        watch=[fill_types(opened)] if opened is not None else [],
        title=title,
        max_errors=max_errors,
        seed=seed,
    )
    data = made.html.encode("utf8")
    with atomic_path(output) as part:
        part.write_bytes(data)
    if len(data) > _LARGE:
        message(f"The page is {len(data) / 1e6:.1f} MB; lower --max-errors to shrink it.")
    result = {"output": str(output), "bytes": len(data), "errors": made.errors, "errors_shown": made.n_shown}
    emit(result, as_json=as_json, text=_text)


def _text(result: dict[str, Any]) -> str:
    return f"Wrote {result['output']} ({result['bytes'] / 1e6:.1f} MB, {result['errors_shown']:,} errors)"

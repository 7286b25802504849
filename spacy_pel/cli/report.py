"""The command ``report``: evaluations as one HTML page."""

from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional

import typer

from ._app import pel_cli
from ._output import JSON, emit, message

_LARGE = 5_000_000  # bytes


@pel_cli.command("report")
def report(
    dirs: Annotated[
        List[Path],
        typer.Argument(metavar="DIR...", help="What `evaluate` wrote; others are compared with the first."),
    ],
    output: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    corpus: Annotated[
        Optional[List[Path]],
        typer.Option(help="What was evaluated, to show errors in their context; may be given several times."),
    ] = None,
    kb: Annotated[
        Optional[Path], typer.Option(help="KB or pipeline, for names, and types where predictions lack them.")
    ] = None,
    title: Annotated[str, typer.Option(help="Of the page.")] = "Entity linking",
    max_errors: Annotated[
        int, typer.Option(min=0, help="Errors shown of each kind, all runs together; a sample.")
    ] = 200,
    seed: Annotated[int, typer.Option(help="Of the bootstrap and of the sample.")] = 0,
    as_json: bool = JSON,
) -> None:
    """Write one HTML page with tables, curves and a browser of errors. It needs no network.

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
        message(f"The page has {len(data) / 1e6:.1f} MB; a smaller --max-errors makes it smaller.")
    result = {"output": str(output), "bytes": len(data), "errors": made.errors, "errors_shown": made.n_shown}
    emit(result, as_json=as_json, text=_text)


def _text(result: Dict[str, Any]) -> str:
    return f"Wrote {result['output']} ({result['bytes'] / 1e6:.1f} MB, {result['errors_shown']:,} errors)"

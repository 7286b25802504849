"""The command ``candidates build``: a candidate generator for a knowledge base."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import Errors, PelError
from .._app import candidates_cli
from .._output import JSON, emit, key_values
from .._settings import parse_settings

BUILD = "build.json"


@candidates_cli.command("build")
def candidates_build(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The KB folder, or a pipeline (its KB is used).")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write; an existing generator is replaced.")],
    generator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="tfidf, bm25, densesynonyms, aliasmatch, scispacy, ensemble, or any registered generator.",
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the generator as NAME=VALUE, e.g. word_ngrams=null (repeatable). "
            'A part is written as in a config: backend={"@pel_backends":"spacy-pel.OpenVinoBackend.v1"}.',
        ),
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Build a candidate generator for `candidates eval` and `candidates add`.

    Example: spacy-pel candidates build corpus/kb training/tfidf --generator tfidf
    """
    from ...candidates.loading import make_generator
    from ...util import atomic_path
    from ...util.saved_part import add_to_part
    from .._kb import open_kb

    made = make_generator(generator, parse_settings(settings or []))
    if made.needs_encoder:
        raise PelError(Errors.E449.format(generator=made.registered_name))
    entities = open_kb(kb)
    started = time.perf_counter()
    made.build(entities, show_progress=True)
    seconds = time.perf_counter() - started
    with atomic_path(out) as part:
        made.to_disk(part)
        add_to_part(part, BUILD, {"seconds": seconds}, kind="generator")
    result: dict[str, Any] = {
        "generator": made.registered_name,
        "settings": made.settings,
        "entities": len(entities),
        "seconds": seconds,
        "bytes": sum(file.stat().st_size for file in out.rglob("*") if file.is_file()),
        "fingerprint": made.fingerprint,
    }
    emit(result, as_json=as_json, text=key_values)

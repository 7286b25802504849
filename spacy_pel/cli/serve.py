"""The command ``serve``: a local page and JSON API to try, inspect and correct a pipeline."""

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ._app import pel_cli
from ._options import IdColumn, Pipeline, Texts, check_needs, flag, option
from ._output import emit, message
from .terms import ContextColumn, TermColumn, TypeColumn


@pel_cli.command("serve", rich_help_panel="Link")
def serve(
    ctx: typer.Context,
    pipeline: Pipeline,
    host: Annotated[str, option("HOST", "Address; 0.0.0.0 = all of this machine.")] = "127.0.0.1",
    port: Annotated[int, option("N", "Port; 0 = any free one.", min=0, max=65535)] = 8000,
    save: Annotated[bool, flag("--save", "Save corrections in the pipeline. Else they end with the server.")] = False,
    terms: Annotated[str | None, option("TERMS", "A list of terms, as for map, to review.")] = None,
    term_column: TermColumn = None,
    id_column: IdColumn = None,
    type_column: TypeColumn = None,
    context_column: ContextColumn = None,
    allow_host: Annotated[Texts, option("NAME", "Another name of this machine, for browsers (repeatable).")] = None,
    max_chars: Annotated[int, option("N", "Characters per text.", min=1)] = 50_000,
    max_texts: Annotated[int, option("N", "Texts per request.", min=1)] = 64,
    max_bytes: Annotated[int, option("N", "Bytes per request.", min=1)] = 4_000_000,
    timeout: Annotated[float, option("NUMBER", "Seconds to answer a request.", min=0.1)] = 60.0,
    receive_timeout: Annotated[float, option("NUMBER", "Seconds for the body of a request.", min=0.1)] = 20.0,
    queue: Annotated[int, option("N", "Requests that may wait for the model.", min=1)] = 16,
) -> None:
    """Open a pipeline in the browser: link texts, see the evidence, correct links, undo corrections.

    Unless --host says otherwise, only this machine can reach the page and its JSON API. Stop the server with Ctrl-C.

    With --terms, decisions on a list are saved in TERMS.reviewed.jsonl, which `map --reviewed` and `teach` read.

    Example: spacy-pel serve assets/pel_medmentions --port 8000
    """
    if terms is None:
        check_needs(ctx, "--terms", "term_column", "id_column", "type_column", "context_column")
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as err:
        raise PelError(Errors.E720) from err
    from ..engines.corpus import Columns, Corpus
    from ..engines.output import only_writer
    from ..engines.terms import TERM_COLUMNS, TermSettings
    from ..pipeline.saved import check_may_change, load_pipeline
    from ..serving import Limits, Review, Service, is_local, listen, make_app, make_server

    if save:
        check_may_change(pipeline)
    limits = Limits(max_chars, max_texts, max_bytes, timeout, receive_timeout, n_waiting=queue)
    with ExitStack() as stack:
        listening = stack.enter_context(listen(host, port))  # before the pipeline is loaded, which takes longer
        columns = Columns(term_column, id_column, TERM_COLUMNS, "--term-column")
        corpus = Corpus(terms, columns=columns) if terms else None
        if corpus:
            stack.enter_context(only_writer(Path(f"{Path(corpus.path)}.reviewing")))
        message(f"Loading {pipeline}")
        loaded = load_pipeline(pipeline)
        folder = pipeline / loaded.name if save else None
        service = Service(loaded.nlp, loaded.name, title=pipeline.resolve().name, folder=folder)
        review = Review(loaded, corpus, TermSettings(type_column, context_column)) if corpus else None
        app = make_app(service, limits=limits, host=host, allowed_hosts=allow_host or (), review=review)
        if not is_local(host):
            message("Anyone who reaches this machine can read and correct. See docs/serve.md before you continue.")
        until = "are saved in the pipeline" if save else "last until the server stops (see --save)"
        message(f"New corrections {until}")
        shown = f"[{host}]" if ":" in host else host
        port, page = listening.getsockname()[1], "/review" if terms else ""
        result: dict[str, Any] = {"url": f"http://{shown}:{port}{page}", "host": host, "port": port}
        emit(result, lambda shown: str(shown["url"]))
        for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn raises what stopped it again; that end was asked for
            signal.signal(number, lambda *_: None)
        make_server(app, limits).run(sockets=[listening])
    message("Stopped")

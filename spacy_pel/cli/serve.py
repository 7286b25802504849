"""The command ``serve``: a local page and JSON API to try, inspect and correct a pipeline."""

from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ._app import pel_cli
from ._options import Pipeline
from ._output import JSON, emit, message


@pel_cli.command("serve", rich_help_panel="Link")
def serve(
    pipeline: Pipeline,
    host: Annotated[str, typer.Option(metavar="HOST", help="Address; 0.0.0.0 = all of this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 = any free one.")] = 8000,
    save: Annotated[
        bool,
        typer.Option("--save", help="Save corrections in the pipeline. Otherwise they last until the server stops."),
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name of this machine that browsers use (repeatable)."),
    ] = None,
    max_chars: Annotated[int, typer.Option(metavar="N", min=1, help="Characters per text.")] = 50_000,
    max_texts: Annotated[int, typer.Option(metavar="N", min=1, help="Texts per request.")] = 64,
    max_bytes: Annotated[int, typer.Option(metavar="N", min=1, help="Bytes per request.")] = 4_000_000,
    timeout: Annotated[float, typer.Option(metavar="NUMBER", min=0.1, help="Seconds to answer a request.")] = 60.0,
    receive_timeout: Annotated[
        float, typer.Option(metavar="NUMBER", min=0.1, help="Seconds for a client to send its request.")
    ] = 20.0,
    queue: Annotated[int, typer.Option(metavar="N", min=1, help="Requests that may wait for the model.")] = 16,
    as_json: bool = JSON,
) -> None:
    """Open a pipeline in the browser: link texts, see the evidence, correct links, undo corrections.

    Unless --host says otherwise, only this machine can reach the page and its JSON API. Stop the server with Ctrl-C.

    Example: spacy-pel serve assets/pel_medmentions --port 8000
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as err:
        raise PelError(Errors.E720) from err
    from ..pipeline.saved import load_pipeline
    from ..serving import Limits, Server, Service, listen, make_app
    from ..serving.guard import is_local
    from ..serving.service import component_folder

    limits = Limits(
        max_chars=max_chars,
        max_texts=max_texts,
        max_bytes=max_bytes,
        timeout=timeout,
        receive_timeout=receive_timeout,
        n_waiting=queue,
    )
    with listen(host, port) as taken:  # before the pipeline is loaded, which takes longer
        message(f"Loading {pipeline}")
        loaded = load_pipeline(pipeline)
        folder = component_folder(pipeline, loaded.name) if save else None
        service = Service(loaded.nlp, loaded.name, title=pipeline.resolve().name, folder=folder)
        app = make_app(service, limits=limits, host=host, allowed_hosts=allow_host or ())
        server = Server(app, taken, limits=limits)
        if not is_local(host):
            message("Anyone who reaches this machine can read and correct. See docs/serve.md before you continue.")
        message(
            f"New corrections {'are saved in the pipeline' if save else 'last until the server stops (see --save)'}"
        )
        shown = f"[{host}]" if ":" in host else host
        result: dict[str, Any] = {"url": f"http://{shown}:{server.port}", "host": host, "port": server.port}
        emit(result, as_json=as_json, text=lambda shown: str(shown["url"]))
        server.run()
    message("Stopped")

"""The page and the JSON API over a service, and the server that listens."""

import asyncio
import contextvars
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib import resources
from typing import Any, Literal

import uvicorn
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ..about import __version__
from ..corpora.formats.tables import table_text
from ..errors import Errors, PelError, quoted
from ..linking import Correction
from ..types import Document
from . import schemas
from .guard import App, Guard, Limits, RequestError, error_response
from .review import Review, add_review, map_all
from .service import Service

_DESCRIPTION = (
    "Links the mentions of texts to a knowledge base, explains the links, and learns corrections. Bodies are "
    'JSON, offsets count characters, and an error is an object {"detail": "what was expected, what came"}.'
)
_SHOWN = 5  # faults in an answer
_FEW = 3  # entities found by name, below which similar ones are looked for
_PAGE = "spacy_pel.serving"
_STYLE = "spacy_pel.evaluation"  # its page.css is the look of all pages
_FILES = {
    "": (_PAGE, "page/index.html", "text/html"),
    "docs": (_PAGE, "page/docs.html", "text/html"),
    "static/page.css": (_STYLE, "page.css", "text/css"),
    "static/serve.css": (_PAGE, "page/serve.css", "text/css"),
    "static/common.js": (_PAGE, "page/common.js", "text/javascript"),
    "static/serve.js": (_PAGE, "page/serve.js", "text/javascript"),
    "static/review.js": (_PAGE, "page/review.js", "text/javascript"),
    "static/docs.js": (_PAGE, "page/docs.js", "text/javascript"),
    "static/icon.svg": (_PAGE, "page/icon.svg", "image/svg+xml"),
}
_REVIEW = {"review": (_PAGE, "page/review.html", "text/html")}


class Worker:
    """Calls functions one after the other, in a thread of its own.

    Args:
        n_waiting: jobs that may wait, besides the one that runs.
    """

    def __init__(self, *, n_waiting: int):
        self.n_waiting = n_waiting
        self._n_jobs = 0
        self._thread = ThreadPoolExecutor(1)
        self._context = contextvars.copy_context()  # of the thread that loaded the model: has thinc's device

    def __len__(self) -> int:
        """Waiting jobs."""
        return max(0, self._n_jobs - 1)

    async def run(self, function: Callable[[Callable[[], bool]], Any], *, timeout: float) -> Any:
        """Wait for the result of a function.

        Args:
            function: takes ``is_wanted``, a function without arguments that becomes false when nobody waits for the
                result any longer.
            timeout: seconds to wait at most. A job that waits is dropped then; one that runs is told.

        Returns:
            Its result.

        Raises:
            RequestError: if the queue is full, or the time is over.
        """
        if self._n_jobs > self.n_waiting:
            raise RequestError(Errors.E724.format(n=self.n_waiting), retry_after=1, status=503)
        wanted = threading.Event()
        wanted.set()
        self._n_jobs += 1
        try:
            loop = asyncio.get_running_loop()
            job = loop.run_in_executor(self._thread, self._context.run, function, wanted.is_set)
            return await asyncio.wait_for(job, timeout)
        except asyncio.TimeoutError as err:
            raise RequestError(Errors.E723.format(seconds=f"{timeout:g}"), status=504) from err
        finally:
            wanted.clear()
            self._n_jobs -= 1

    def stop(self) -> None:
        """Drop what waits. The process ends when the job that runs has ended."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def make_app(
    service: Service, *, limits: Limits, host: str, allowed_hosts: Collection[str] = (), review: Review | None = None
) -> App:
    """Make the app, with the thread that works with the model.

    Args:
        service: answers.
        limits: what is accepted.
        host: where the server listens.
        allowed_hosts: other names under which it is reached.
        review: a list of terms, which has a page of its own.

    Returns:
        An ASGI app. Its life span ends with the thread.
    """
    model = Worker(n_waiting=limits.n_waiting)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        mapping = asyncio.create_task(map_all(review, with_model)) if review else None
        yield
        if mapping:
            mapping.cancel()
        model.stop()

    errors = {"model": schemas.ErrorResponse, "description": "An error; of 503, Retry-After says when to try again"}
    about: Any = {"title": "spacy_pel", "version": __version__, "description": _DESCRIPTION}
    about["responses"] = {"default": errors}
    app = FastAPI(**about, docs_url=None, redoc_url=None, lifespan=lifespan)  # these load scripts from elsewhere
    _add_errors(app)
    _add_files(app, _FILES | (_REVIEW if review else {}))

    async def with_model(function: Callable[..., Any]) -> Any:
        return await model.run(function, timeout=limits.timeout)

    @app.post("/link", summary="Link texts", responses={200: {"content": {"text/csv": {}}}})
    async def link(
        request: schemas.LinkRequest,
        format: Literal["json", "csv"] = Query("json", description="csv = a table with a row for each mention."),
    ) -> Any:
        """The mentions of each text with ids, scores and candidates: `documents`, a list of the objects, or the
        table, that the command `spacy-pel link` writes."""
        documents = _documents(request, limits)

        def linked(is_wanted: Callable[[], bool]) -> Response:
            records = service.link(documents, request.n_candidates, is_wanted)
            if format == "csv":
                return Response(table_text(records), media_type="text/csv")
            return JSONResponse({"documents": records})

        return await with_model(linked)

    @app.post("/explain", response_model=schemas.ExplainResponse, summary="Explain a link")
    async def explain(request: schemas.ExplainRequest) -> Any:
        """The evidence for each candidate of a mention, P(NIL) and its threshold."""
        limits.check_text(request.text, "the request")
        return await with_model(lambda _: JSONResponse(service.explain(**dict(request))))

    @app.get("/entity/{entity_id:path}", response_model=schemas.EntityResponse, summary="Look up an entity")
    def entity(entity_id: str) -> Any:
        """Names, types, definition and codes of other vocabularies; of a retired id those of its successor."""
        return JSONResponse(service.entity(entity_id))

    @app.post("/entities", response_model=schemas.EntitiesResponse, summary="Look up several entities")
    def entities(request: schemas.EntitiesRequest) -> Any:
        """Unknown ids are left out."""
        limits.check_number("ids", len(request.ids))
        return JSONResponse({"entities": service.entities(request.ids)})

    @app.get("/search", response_model=schemas.SearchResponse, summary="Search names")
    async def search(
        q: str = Query(max_length=200, description="Words of a name, or how they begin."),
        n: int = Query(10, ge=1, le=50, description="How many entities at most."),
    ) -> Any:
        """Entities with such a name. Where there are few, those follow that the linker takes for similar."""
        named = await run_in_threadpool(service.search, q, n)
        if len(named) < _FEW:
            known = {entity["id"] for entity in named}
            similar = await with_model(lambda _: service.similar(q, n))
            named = [*named, *(entity for entity in similar if entity["id"] not in known)][:n]
        return JSONResponse({"entities": named})

    @app.get("/learned", response_model=schemas.MemoryResponse, summary="List corrections")
    def learned() -> Any:
        """The corrections in effect, where each decides, and how many of its form agree."""
        return memory([])

    @app.post("/learn", response_model=schemas.MemoryResponse, summary="Correct links")
    async def learn(request: schemas.LearnRequest) -> Any:
        """Corrections count at once, for this text; for others with `always`, or else unless annotated text uses the
        form for a `rival` more often: `decides` says which. What is known already adds nothing."""
        limits.check_number("corrections", len(request.corrections))
        corrections = [_correction(given, limits) for given in request.corrections]
        return await with_model(lambda _: memory(service.learn(corrections, request.by)))

    @app.post("/unlearn", response_model=schemas.MemoryResponse, summary="Undo corrections")
    async def unlearn(request: schemas.UnlearnRequest) -> Any:
        """Links are again what they were without them."""
        limits.check_number("ids", len(request.ids))
        return await with_model(lambda _: memory(service.unlearn(request.ids, request.by)))

    @app.get("/health", summary="Is it well?")
    async def health() -> Any:
        """Answers at once, also while the model works: `status` ("ok", or "busy": the next text would be refused),
        `waiting` requests, the `limits`, and what the pipeline is."""
        status = "busy" if len(model) >= limits.n_waiting else "ok"
        facts = {"status": status, "version": __version__, "terms": review is not None, **service.facts()}
        return JSONResponse({**facts, "waiting": len(model), "limits": asdict(limits)})

    def memory(changed: list[dict[str, Any]]) -> Response:
        return JSONResponse({"changed": changed, "learned": service.learned, "saved": service.saves})

    if review:
        add_review(app, review, with_model)
    return Guard(app, limits=limits, host=host, allowed_hosts=allowed_hosts)


def _documents(request: schemas.LinkRequest, limits: Limits) -> list[Document]:
    """The texts of a request.

    Raises:
        RequestError: if it has none, two kinds of them, too many, or one is too long.
    """
    if (request.text is None) == (request.documents is None):
        got = "none" if request.text is None else "both"
        raise RequestError(Errors.E011.format(expected='"text" or "documents"', got=got))
    texts = [request.text] if isinstance(request.text, str) else request.text or []
    limits.check_number("texts", len(texts if request.documents is None else request.documents))
    documents = [Document(str(number), text) for number, text in enumerate(texts, start=1)]
    for number, given in enumerate(request.documents or (), start=1):
        documents.append(Document(str(number if given.id is None else given.id), given.text, meta=given.meta))
    for document in documents:
        limits.check_text(document.text, f"document {document.id}")
    return documents


def _correction(given: schemas.GivenCorrection, limits: Limits) -> Correction:
    limits.check_text(given.text, "a correction")
    mention = given.text, given.start, given.end, given.kb_id, given.label, given.id
    correction = Correction(*mention, always=given.always)
    if given.mention is not None and given.mention != correction.surface:
        expected = f"the mention {quoted(given.mention)} at {given.start} to {given.end}"
        raise RequestError(Errors.E011.format(expected=expected, got=quoted(correction.surface)))
    return correction


def _add_files(app: FastAPI, files: dict[str, tuple[str, str, str]]) -> None:
    def add(path: str, content: bytes, media_type: str) -> None:
        async def file() -> Response:
            return Response(content, media_type=media_type, headers={"cache-control": "no-cache"})

        app.add_api_route(f"/{path}", file, methods=["GET", "HEAD"], include_in_schema=False)

    for path, (package, name, media_type) in files.items():
        add(path, resources.files(package).joinpath(name).read_bytes(), media_type)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(PelError)
    async def expected(_: Request, err: PelError) -> Response:
        return error_response(err)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, err: RequestValidationError) -> Response:
        faults = err.errors()[:_SHOWN]
        shown = [f"{'.'.join(map(str, fault['loc'][1:]))[:100] or 'body'}: {fault['msg']}" for fault in faults]
        return error_response(RequestError(Errors.E739.format(got="; ".join(shown)), status=422))

    @app.exception_handler(RecursionError)
    async def too_deep(_: Request, err: RecursionError) -> Response:
        return error_response(RequestError(Errors.E011.format(expected="flat data", got="deeply nested data")))

    @app.exception_handler(HTTPException)
    async def other(request: Request, err: HTTPException) -> Response:
        if err.status_code == 404:
            return error_response(RequestError(Errors.E737.format(got=quoted(request.url.path)), status=404))
        text = Errors.E739.format(got=f"{err.detail}, {request.method} {request.url.path}")
        response = error_response(RequestError(text, status=err.status_code))
        response.headers.update(err.headers or {})
        return response

    @app.exception_handler(Exception)
    async def bug(_: Request, err: Exception) -> Response:
        return error_response(RequestError(Errors.E738, status=500))


def listen(host: str, port: int) -> socket.socket:
    """Take a port.

    Args:
        host: a name or address of this machine.
        port: 0 = any that is free.

    Returns:
        Listening; connections wait until a server has it.

    Raises:
        PelError: if that is not possible.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=family)
    except OSError as err:
        raise PelError(Errors.E721.format(host=host, port=port, got=err.strerror or str(err))) from err


def make_server(app: App, limits: Limits) -> uvicorn.Server:
    """A server for ``run(sockets=[listen(...)])``, which ends with SIGINT, SIGTERM or ``should_exit``. What was
    accepted is answered first; a second SIGINT ends the waiting."""
    engine: Any = {"loop": "asyncio", "http": "h11", "ws": "none", "lifespan": "on"}
    # no log of accesses: a search is in the address
    quiet: Any = {"log_config": None, "log_level": "error", "access_log": False}
    quiet |= {"server_header": False, "proxy_headers": False}
    bounds: Any = {"limit_concurrency": limits.n_connections, "timeout_graceful_shutdown": int(limits.timeout) + 1}
    return uvicorn.Server(uvicorn.Config(app, **engine, **quiet, **bounds))  # type: ignore[arg-type]

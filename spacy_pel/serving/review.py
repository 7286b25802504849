"""A list of terms on a page: what each is mapped to, the least sure first, and what a curator decides."""

import asyncio
import tempfile
import threading
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI, Query
from fastapi.responses import JSONResponse, Response
from pydantic import Field
from pydantic_core import to_jsonable_python
from starlette.concurrency import run_in_threadpool

from ..corpora.document_stream import reason_of
from ..engines.corpus import Corpus
from ..engines.terms import TermSettings, decided, map_documents, read_review, term_record, usable_review, write_terms
from ..errors import Errors, PelError, Warnings
from ..pipeline.saved import LoadedPipeline
from ..pipeline.terms import TermMatch
from ..types import NIL
from ..util import logger, write_jsonl
from ..util.saved_folder import identity_of
from .guard import RequestError
from .schemas import Name, Request, example

_TOP_K = 9  # alternatives: each has a key
_CHUNK = 64  # terms that are mapped while a request waits
_EXPORTS = {
    "csv": ("terms.csv", "text/csv"),
    "jsonl": ("terms.jsonl", "text/plain"),
    "sssom": ("terms.sssom.tsv", "text/tab-separated-values"),
}
Row = dict[str, Any]


class Review:
    """Terms, their answers, and decisions, which are saved in TERMS.reviewed.jsonl before they count.

    ``map`` needs the model: call it in its thread.

    Args:
        pipeline: maps the terms.
        terms: the list.
        settings: how they are mapped.

    Raises:
        PelError: if the list or the file of decisions cannot be read, there are no terms, or the knowledge base lacks
            one of their types.
    """

    def __init__(self, pipeline: LoadedPipeline, terms: Corpus, settings: TermSettings):
        self.pipeline, self.kb, self.settings = pipeline, pipeline.component.kb, settings
        self.path = Path(f"{Path(terms.path)}.reviewed.jsonl")
        self.documents = list(terms)
        read = list(map(settings.read, self.documents))
        self._keys = [(document.id, term) for document, (term, _, _) in zip(self.documents, read, strict=True)]
        self._listed = [number for number, (term, _, _) in enumerate(read) if term]
        if not self._listed:
            raise PelError(Errors.E645.format(path=terms.path))
        self._records: list[Row | None] = [None] * len(self.documents)
        self._file = identity_of(self.path)
        review = read_review(self.path) if self._file else {}
        self._decisions = usable_review(review, set(self._keys), self.kb)
        # kept in the file, in case the list or the knowledge base comes back
        self._others = {key: decision for key, decision in review.items() if key not in self._decisions}
        self._lock = threading.Lock()
        firsts = {types: number for number, (_, types, _) in enumerate(read)}
        self.map(list(firsts.values()), refused=PelError)  # unknown types

    def map(self, numbers: Sequence[int], *, refused: type[Exception] | tuple[()] = ()) -> None:
        """Map rows; one on which the pipeline fails has an "error". RAISES: errors that are refused."""
        documents = [self.documents[number] for number in numbers]
        try:
            records: list[Row] = list(map_documents(self.pipeline, documents, self.settings, top_k=_TOP_K))
        except refused:
            raise
        except Exception as err:
            if len(numbers) > 1:
                for number in numbers:
                    self.map([number], refused=refused)
                return
            (row, term), got = self._keys[numbers[0]], reason_of(err)
            logger.warning(Warnings.W608.format(term=term, row=row, got=got))
            records = [term_record(documents[0], TermMatch(term, NIL, None, 0.0, None, None, []))]
            records[0]["mentions"][0]["error"] = got
        for number, record in zip(numbers, records, strict=True):
            self._records[number] = record

    def unmapped(self, numbers: Sequence[int] | None = None) -> list[int]:
        """Some of these rows, or of all, that are not mapped yet."""
        among = range(len(self.documents)) if numbers is None else numbers
        return list(islice((number for number in among if self._records[number] is None), _CHUNK))

    def ordered(self, order: str, numbers: Sequence[int] | None = None) -> list[int]:
        """Some of the rows, or all that have a term; "unsure" = by P(right), those that are not mapped last."""
        numbers = self._listed if numbers is None else numbers
        if order == "list":
            return list(numbers)
        p = [2.0 if record is None else record["mentions"][0]["probability"] for record in self._records]
        return sorted(numbers, key=p.__getitem__)

    def page(self, numbers: Sequence[int], shown: Sequence[int]) -> Row:
        """Some rows of an order, how far the list is, and the place of the first row that is not decided."""
        is_open = [self._keys[number] not in self._decisions for number in numbers]
        n_mapped = sum(self._records[number] is not None for number in numbers)
        counts = {"terms": len(numbers), "mapped": n_mapped, "reviewed": is_open.count(False)}
        place = is_open.index(True) if any(is_open) else None
        page = {"rows": [self._row(number) for number in shown], **counts, "next": place, "file": self.path.name}
        return to_jsonable_python(page, inf_nan_mode="null")  # type: ignore[no-any-return]

    def _row(self, number: int) -> Row:
        record, document = self._records[number], self.documents[number]
        decision = self._decisions.get(self._keys[number])
        if decision is not None:
            decision = {"id": decision["kb_id"], "name": decided(decision, self.kb).name}
        mapped = {} if record is None else record["mentions"][0]
        return {"number": number, "row": document.id, **mapped, "meta": document.meta, "decision": decision}

    def decide(self, number: int, kb_id: str | None) -> Row:
        """Decide what a row means, or take that back, and save it.

        Args:
            number: of the row.
            kb_id: an id, "NIL", or None = it is open again.

        Returns:
            A page with the row.

        Raises:
            RequestError: if there is no such row or id, or something else has changed the file.
        """
        if not 0 <= number < len(self._keys) or not self._keys[number][1]:
            raise RequestError(Errors.E011.format(expected="the number of a term", got=number), status=404)
        key, record = self._keys[number], self._records[number]
        now = NIL if kb_id == NIL else self.kb.resolve(kb_id or "")
        if kb_id is not None and now is None:
            raise RequestError(Errors.E734.format(got=repr(kb_id[:100])), status=404)
        with self._lock:
            if identity_of(self.path) != self._file:
                raise RequestError(Errors.E675.format(path=self.path), status=409)
            decisions = {other: decision for other, decision in self._decisions.items() if other != key}
            if kb_id is not None:
                match = {} if record is None else record["mentions"][0]
                relation = None if now == NIL else match["relation"] if match.get("id") == now else "exact"
                decisions[key] = {"id": key[0], "term": key[1], "kb_id": now, "relation": relation}
            others = {other: decision for other, decision in self._others.items() if other != key}
            write_jsonl(self.path, [*others.values(), *decisions.values()])
            self._file, self._decisions, self._others = identity_of(self.path), decisions, others
        return self.page(self._listed, [number])

    def export(self, to: str) -> bytes:
        """The table that ``map --reviewed`` writes.

        Raises:
            RequestError: if not all terms are mapped, or the pipeline failed on one that nobody decided on.
        """
        decisions, rows, n_failed = self._decisions, list[Row](), 0
        for document, key, record in zip(self.documents, self._keys, self._records, strict=True):
            if key in decisions:
                record = term_record(document, decided(decisions[key], self.kb))
            rows += [] if record is None else [record]
            n_failed += record is not None and "error" in record["mentions"][0]
        if len(rows) < len(self.documents):
            raise RequestError(Errors.E741.format(got=len(rows), n=len(self.documents)), status=409)
        if n_failed:
            raise RequestError(Errors.E742.format(n=n_failed), status=409)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / _EXPORTS[to][0]
            write_terms(path, rows, to)
            return path.read_bytes()


class DecideRequest(Request):
    """What a term means."""

    model_config = example(number=0, kb_id="NIL")

    number: int = Field(description="Of the row, as in GET /terms.")
    kb_id: Name | None = Field(description='An id of the knowledge base, "NIL", or null = it is open again.')


def add_review(app: FastAPI, review: Review, with_model: Callable[..., Awaitable[Any]]) -> None:
    """Add the calls of the page."""

    @app.get("/terms", summary="List terms")
    async def terms(
        start: int = Query(0, ge=0, description="Place of the first row."),
        n: int = Query(50, ge=0, le=100, description="How many rows at most."),
        order: Literal["unsure", "list"] = Query("unsure", description="By P(right), or as in the list."),
    ) -> Any:
        """Each row as `map` writes it, with its `decision`, or with an `error` if the pipeline failed on it; how many
        terms are `mapped`, which goes on, and `reviewed`; and the place of the `next` row that is open."""
        numbers = await run_in_threadpool(review.ordered, order)
        shown = numbers[start : start + n]
        while unmapped := review.unmapped(shown):
            await with_model(lambda _, some=unmapped: review.map(some))
        numbers[start : start + n] = shown = review.ordered(order, shown)
        return JSONResponse(await run_in_threadpool(review.page, numbers, shown))

    @app.post("/terms", summary="Decide what a term means")
    def decide(request: DecideRequest) -> Any:
        """The row, as GET /terms has it. The decision is in the file before the answer."""
        return JSONResponse(review.decide(request.number, request.kb_id))

    @app.get("/terms/export", summary="Export terms")
    def export(format: Literal["csv", "jsonl", "sssom"] = "csv") -> Any:
        """What `spacy-pel map --reviewed` writes."""
        return Response(review.export(format), media_type=_EXPORTS[format][1])


async def map_all(review: Review, with_model: Callable[..., Awaitable[Any]]) -> None:
    """Map the list bit by bit, so that requests are answered meanwhile."""
    while unmapped := review.unmapped():
        try:
            await with_model(lambda _, some=unmapped: review.map(some))
        except RequestError:  # others wait for the model
            await asyncio.sleep(1)

"""The core of every engine: the pipeline of a process, and a batch of texts that it links; the same for a Spark data
frame."""

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..corpora.document_stream import process_documents
from ..corpora.formats.tables import METADATA, json_rows, link_row, link_schema
from ..errors import Errors, PelError
from ..kb.codes import Codes
from ..pipeline.mentions import denials_of, document_record
from ..pipeline.saved import LoadedPipeline, load_pipeline
from ..types import Document
from ..util.config import import_code
from ..util.processes import bound_threads
from ..util.xrefs import vocabulary_name
from .corpus import id_of, meta_of

# a pipeline works for one thread at a time: its tokenizers cannot be borrowed twice, and memory zones cannot nest
_one_thread = threading.Lock()
_loading = threading.Lock()
_pipelines: dict[str, LoadedPipeline] = {}


def _new_lock() -> None:
    global _one_thread
    _one_thread = threading.Lock()  # another thread of the parent may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def link_batch(
    pipeline: str | Path | LoadedPipeline,
    batch: pa.RecordBatch | pa.Table,
    *,
    text: str = "text",
    id: str = "id",
    n_candidates: int = 5,
    batch_size: int = 1,
    codes: Sequence[str] | Codes = (),
) -> pa.RecordBatch:
    """Link a batch of documents. What it gives is of this batch alone: words that are new to the pipeline are
    forgotten afterwards, and threads that call it wait for each other.

    Args:
        pipeline: loaded, or the path of one, which is loaded once per process.
        batch: n rows with the columns ``text`` (strings; null = nothing to link) and
            ``id`` (anything that has a text), and perhaps "meta" (JSON, or a structure). Other columns are added
            to "meta".
        text, id: names of these columns.
        n_candidates: how many candidates to keep per mention.
        batch_size: documents that the components process together.
        codes: vocabularies whose codes to add, e.g. ["MESH"], see ``KnowledgeBase.codes``. Names are looked up in the
            knowledge base for each batch; pass ``Codes`` to do so once.

    Returns:
        N rows of ``link_schema``, in order. Where the pipeline failed, "mentions" is null
        and "meta" says why as "error".

    Raises:
        PelError: if a column is missing, or its type is not that of texts, or the pipeline cannot be
            loaded, or its knowledge base has no code of a vocabulary.
    """
    if not isinstance(pipeline, LoadedPipeline):
        pipeline = process_pipeline(pipeline)
    codes_of = codes if isinstance(codes, Codes) else Codes(pipeline.component.kb, codes)
    documents = _documents(batch, text, id)
    texts = [replace(document, text=document.text or "") for document in documents]
    linked = link_documents(pipeline, texts, n_candidates=n_candidates, batch_size=batch_size, codes=codes_of)
    rows = []
    for document, record in zip(documents, linked, strict=True):
        if error := record.pop("error", None):
            record |= {"mentions": None, "meta": {**document.meta, "error": error}}
        rows.append(link_row({**record, "text": document.text}))
    return pa.RecordBatch.from_pylist(rows, schema=link_schema(codes_of.names))


def link_dataframe(
    df: Any,
    pipeline: str,
    *,
    text: str = "text",
    id: str = "id",
    n_candidates: int = 5,
    batch_size: int = 1,
    threads: int = 1,
    device: str | None = None,
    codes: Sequence[str] = (),
    code: Sequence[str] = (),
) -> Any:
    """Link the rows of a data frame, lazily, with ``mapInArrow``. Each Python worker of an executor loads the
    pipeline once; spacy-pel must be installed there.

    Args:
        df: with the columns ``text`` (null = nothing to link) and ``id``, and perhaps "meta" (JSON). Other columns
            are added to "meta".
        pipeline: its folder, at the same path on every node.
        text, id: names of these columns.
        n_candidates: how many candidates to keep per mention.
        batch_size: documents that the components process together.
        threads: of each Python worker; give it as many as ``spark.task.cpus``.
        device: torch device of the encoder, e.g. "cuda"; None = the CPU.
        codes: vocabularies whose codes to add, e.g. ["MESH"], see ``KnowledgeBase.codes``.
        code: Python files with parts of the pipeline that are your own, at the same paths on every node.

    Returns:
        A row for each row, of ``link_schema``: "id", "text", "mentions" and "meta". The schema's version is in the
        metadata of "mentions", as a data frame has none of its own.

    Raises:
        PelError: if pyspark is not installed or a column is missing; what is wrong with the pipeline
            is known once Spark runs it.
    """
    try:
        from pyspark.sql.pandas.types import from_arrow_schema
    except ImportError as err:
        raise PelError(Errors.E003.format(feature="link_dataframe", package="pyspark", extra="spark")) from err

    _check_columns(df.columns, text, id)
    names_of_codes = tuple(map(vocabulary_name, codes))
    if "all" in names_of_codes:  # Spark wants the columns before a worker opens the knowledge base
        raise PelError(Errors.E011.format(expected="the names of vocabularies as 'codes'", got="'all'"))
    settings: Any = {"text": text, "id": id, "n_candidates": n_candidates, "batch_size": batch_size}

    def link(batches: Iterator[Any]) -> Iterator[Any]:
        loaded = process_pipeline(pipeline, threads=threads, device=device, code=code)
        of_codes = Codes(loaded.component.kb, names_of_codes)
        for batch in batches:
            yield link_batch(loaded, batch, codes=of_codes, **settings)

    schema = from_arrow_schema(link_schema(names_of_codes))
    schema["mentions"].metadata = METADATA
    return df.mapInArrow(link, schema)


def link_documents(
    pipeline: LoadedPipeline,
    documents: list[Document],
    *,
    n_candidates: int,
    batch_size: int,
    codes: Codes,
    min_p: float = 0.0,
) -> Iterator[dict[str, Any]]:
    """Link documents, as ``link_batch`` does, and leave out mentions whose P(right) is below ``min_p``.

    Returns:
        A record for each, see ``document_record``.
    """
    with _one_thread, pipeline.nlp.memory_zone():
        done = process_documents(pipeline.nlp, documents, batch_size=batch_size)
        settings = (n_candidates, codes, denials_of(pipeline.nlp))
        records = [document_record(pipeline.component, processed, *settings) for processed in done]
    for record in records if min_p else ():
        mentions = record.get("mentions", [])
        mentions[:] = [mention for mention in mentions if (mention["probability"] or 0.0) >= min_p]
    return iter(records)


def _documents(batch: pa.RecordBatch | pa.Table, text: str, id: str) -> list[Document]:
    """The documents of the rows; a text is None where it is null."""
    _check_columns(batch.schema.names, text, id)
    kind = batch.schema.field(text).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
        raise PelError(Errors.E633.format(name=text, got=kind))
    rows = json_rows(batch, "a batch")
    return [Document(id_of(row[id]), row[text], meta=meta_of(row, text, id)) for row in rows]  # type: ignore[arg-type]


def _check_columns(names: Sequence[str], text: str, id: str) -> None:
    for name, argument in ((text, "text"), (id, "id")):
        if name not in names:
            raise PelError(Errors.E632.format(name=name, got=", ".join(names), argument=argument))


def process_pipeline(
    path: str | Path, *, threads: int | None = None, device: str | None = None, code: Iterable[str] = ()
) -> LoadedPipeline:
    """The pipeline of a path in this process; the first call loads it, and with it declares its extension
    attributes.

    Args:
        path: its folder, or the name of an installed pipeline package.
        threads: threads that this process may use, from its first call on; None = as it is.
        device: torch device to move its encoder and its ranker to, e.g. "cuda"; None = do not.
        code: Python files to import first, with parts of the user's own.

    Returns:
        The same one at each call; the settings of later calls do not count.

    Raises:
        PelError: if it or the code cannot be loaded.
    """
    with _loading:
        if str(path) not in _pipelines:
            if threads is not None:
                bound_threads(threads)
            import_code(code)
            loaded = load_pipeline(Path(path))
            if device is not None:
                _move(loaded, device)
            if threads is not None:
                bound_threads(threads)  # of the libraries that the pipeline has imported
            _pipelines[str(path)] = loaded
        return _pipelines[str(path)]


def _move(loaded: LoadedPipeline, device: str) -> None:
    linker = loaded.component.linker
    parts = [loaded.component.encoder, linker.encoder, linker.reranker and linker.reranker.ranker]
    for part in parts:
        if getattr(part, "towers", None) is not None:
            part.towers.to(device)
            part.changed()

"""The core of every engine: the pipeline of a process, and a batch of texts that it links."""

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..corpora.document_stream import process_documents
from ..corpora.formats.tables import json_rows, link_row, link_schema
from ..errors import Errors, PelError
from ..kb.codes import Codes
from ..pipeline.records import document_record
from ..pipeline.saved import LoadedPipeline, load_pipeline
from ..types import Document
from ..util.config import import_code
from ..util.processes import bound_threads
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


def batch_schema(codes: Sequence[str] = ()) -> pa.Schema:
    """The schema of what ``link_batch`` returns: that of ``link``'s Parquet, with its version as the metadata
    "spacy_pel.links".

    Args:
        codes: the vocabularies whose codes the mentions have, in their usual spelling.
    """
    return link_schema(codes)


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
        batch_size: documents that the components process together. A document on its own gives the same
            row wherever a corpus is cut; in larger batches the last digit of a score may differ.
        codes: vocabularies whose codes to add, e.g. ["MESH"], see ``KnowledgeBase.codes``. Names are looked up in the
            knowledge base for each batch; pass ``Codes`` to do so once.

    Returns:
        N rows of ``batch_schema``, in order. Where the pipeline failed, "mentions" is null
        and "meta" says why as "error".

    Raises:
        PelError: if a column is missing, or its type is not that of texts, or the pipeline cannot be
            loaded, or its knowledge base has no code of a vocabulary.
    """
    if not isinstance(pipeline, LoadedPipeline):
        pipeline = process_pipeline(pipeline)
    codes_of = codes if isinstance(codes, Codes) else Codes(pipeline.component.kb, codes)
    documents = _documents(batch, text, id)
    with_text = [document for document in documents if document.text is not None]
    linked = link_documents(pipeline, with_text, n_candidates=n_candidates, batch_size=batch_size, codes=codes_of)
    rows = []
    for document in documents:
        record: dict[str, Any] = {"id": document.id, "text": document.text, "mentions": [], "meta": document.meta}
        if document.text is not None:
            record |= next(linked)
        if error := record.pop("error", None):
            record |= {"mentions": None, "meta": {**document.meta, "error": error}}
        rows.append(link_row(record))
    return pa.RecordBatch.from_pylist(rows, schema=batch_schema(codes_of.names))


def link_documents(
    pipeline: LoadedPipeline, documents: list[Document], *, n_candidates: int, batch_size: int, codes: Codes
) -> Iterator[dict[str, Any]]:
    """Link documents, as ``link_batch`` does.

    Returns:
        A record for each, see ``document_record``.
    """
    with _one_thread, pipeline.nlp.memory_zone():
        done = process_documents(pipeline.nlp, documents, batch_size=batch_size)
        return iter([document_record(pipeline.component, processed, n_candidates, codes) for processed in done])


def _documents(batch: pa.RecordBatch | pa.Table, text: str, id: str) -> list[Document]:
    """The documents of the rows; a text is None where it is null."""
    names = batch.schema.names
    for name, argument in ((text, "text"), (id, "id")):
        if name not in names:
            raise PelError(Errors.E632.format(name=name, got=", ".join(names), argument=argument))
    kind = batch.schema.field(text).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
        raise PelError(Errors.E633.format(name=text, got=kind))
    rows = json_rows(batch, "a batch")
    return [Document(id_of(row[id]), row[text], meta=meta_of(row, text, id)) for row in rows]  # type: ignore[arg-type]


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

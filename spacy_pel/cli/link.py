"""The command ``link``: runs a pipeline over a corpus of any size."""

import time
from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Dict, Iterable, Iterator, Optional

import typer

from ..errors import Errors, PelError
from ..types import NIL, Document
from ._app import pel_cli
from ._output import JSON, emit, key_values, message

_FORMAT = 2  # of the records in a part; 2: with "probability"
_STRETCH = 2000  # documents of a process after which their words are forgotten, and workers replaced


@pel_cli.command("link")
def link(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder.")],
    input_path: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="Texts: .txt (a document per line), a folder of .txt files, .jsonl, .parquet or PubTator; "
            "plain or gzipped (.gz), except for Parquet.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Argument(
            help="A file .jsonl, .parquet, .pubtator or .xml (BioC), or a folder .brat; .gz gzips all but "
            "Parquet."
        ),
    ],
    format_name: Annotated[
        str, typer.Option("--format", help="txt, jsonl, parquet, pubtator; auto = by file name and content.")
    ] = "auto",
    to: Annotated[
        str,
        typer.Option(help="Format of the output: jsonl, parquet, pubtator, bioc, brat; auto = by its name."),
    ] = "auto",
    n_process: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    batch_size: Annotated[
        Optional[int], typer.Option(min=1, help="Documents per batch. [default: up to 64]")
    ] = None,
    n_candidates: Annotated[int, typer.Option(min=0, help="Candidates written per mention.")] = 5,
    part_size: Annotated[
        Optional[int],
        typer.Option(min=1, help="Documents per saved part. [default: a 50th of them, 10 to 1,000]"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an output that exists.")] = False,
    as_json: bool = JSON,
) -> None:
    """Link a corpus. Each line of a .jsonl output is a document with its mentions, ids and candidates.

    What is linked is saved part by part; a run that was interrupted goes on with --resume.

    Example: spacy-pel link training/pipeline abstracts.txt linked.jsonl --n-process 2 --resume
    """
    from ..util import fingerprint, progress
    from ._documents import read_documents
    from ._link_formats import check_replaceable, output_format, write_links
    from ._pipeline import load_pipeline
    from ._resumable import PartFiles
    from ._workers import workers_end_with_this_process

    to = output_format(to, output)
    if output.exists() and input_path.exists() and _is_inside(input_path, output):
        raise PelError(Errors.E649.format(path=output))
    if output.exists() and not overwrite:
        raise PelError(Errors.E657.format(path=output))
    check_replaceable(output, to)
    # reading is a thousand times faster than linking, and finds what cannot be read before the work begins
    total = sum(1 for _ in read_documents(input_path, format_name))
    if not total:
        raise PelError(Errors.E645.format(path=input_path))
    part_size = part_size or min(1000, max(10, total // 50))
    nlp, _, component = load_pipeline(pipeline)
    batch_size = batch_size or min(nlp.batch_size, 64, -(-total // (4 * n_process)))
    linker = component.linker
    settings = {
        "format": _FORMAT,
        "input": _input_fingerprint(input_path),
        "pipeline": fingerprint(
            nlp.config.to_str(),
            *linker.fingerprints.values(),
            [linker.nil_threshold, linker.combiner.state(), linker.nil_model.state()],
            linker.calibrated_by_label,
            linker.confidence.state(),
            *([linker.reranker.ranker.fingerprint, linker.reranker.state()] if linker.reranker else []),
        ),
        "n_candidates": n_candidates,
        "part_size": part_size,
    }
    parts = PartFiles(output, settings, resume=resume)
    done = len(parts.paths())
    counts = Counter(_count(parts.records()))
    before = counts["documents"]
    if done:
        message(f"Resuming after {before:,} of {total:,} documents")
    started = time.perf_counter()
    rest = islice(read_documents(input_path, format_name), before, None)
    with workers_end_with_this_process():
        records = _records(nlp, component, rest, n_process, batch_size, n_candidates)
        shown = progress(
            records, description="Linking documents", total=total, start=before, warm_up=batch_size
        )
        while part := list(islice(shown, part_size)):
            parts.write(done, part)
            done += 1
            counts.update(_count(part))
    write_links(output, parts.records(), to)
    parts.remove()
    if not counts["mentions"] and counts["documents"]:
        message("No mentions were found. Does the pipeline have a component that finds them (ner)?")
    seconds = time.perf_counter() - started
    result = {
        **counts,
        "resumed_after": before,
        "seconds": seconds,
        "documents_per_second": (counts["documents"] - before) / max(seconds, 1e-9),
    }
    emit({"output": str(output), **result}, as_json=as_json, text=key_values)


def _count(records: Iterable[Dict[str, Any]]) -> Dict[str, int]:
    counts = {"documents": 0, "mentions": 0, "nil": 0}
    for record in records:
        counts["documents"] += 1
        counts["mentions"] += len(record["mentions"])
        counts["nil"] += sum(found["kb_id"] == NIL for found in record["mentions"])
    return counts


def _records(
    nlp: Any,
    component: Any,
    documents: Iterable[Document],
    n_process: int,
    batch_size: int,
    n_candidates: int,
) -> Iterator[Dict[str, Any]]:
    from ..pipeline.name_finder import NameFinder
    from ..pipeline.records import document_record

    pairs = ((document.text, document) for document in documents)
    for _, pipe in nlp.components:
        if isinstance(pipe, NameFinder):
            len(pipe)  # reads the names once; forked workers share them
    stretch = n_process * batch_size * -(-_STRETCH // batch_size)  # whole batches, as without stretches
    while first := next(pairs, None):
        texts = chain([first], islice(pairs, stretch - 1))
        # without a memory zone, and in a worker, a vocabulary keeps each word that it has seen
        with nlp.memory_zone():
            for doc, document in nlp.pipe(texts, as_tuples=True, n_process=n_process, batch_size=batch_size):
                yield document_record(component, doc, document, n_candidates)


def _is_inside(path: Path, folder: Path) -> bool:
    """RETURNS (bool): whether a path is a folder, or a file, or in it."""
    return any(parent.exists() and parent.samefile(folder) for parent in (path, *path.resolve().parents))


def _input_fingerprint(path: Path) -> str:
    from ..util import fingerprint
    from ._documents import text_files

    if path.is_dir():
        return fingerprint([[file.name, fingerprint(file)] for file in text_files(path)])
    return fingerprint(Path(path))

"""Linking on one machine, in one or several processes."""

import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from itertools import count as numbers
from pathlib import Path
from typing import Any

from ..corpora.document_stream import process_documents
from ..corpora.formats.omop import OmopConcepts
from ..errors import Errors, PelError
from ..kb.codes import Codes
from ..pipeline.calibration import learned_state
from ..pipeline.detectors.name_finder import read_names
from ..pipeline.records import document_record
from ..pipeline.saved import load_pipeline
from ..registry import registry
from ..types import Document
from ..util import fingerprint, logger, progress, read_jsonl, write_jsonl
from ..util.processes import bound_threads
from ..util.xrefs import vocabulary_key, vocabulary_name
from .documents import folder_files, input_format, read_documents
from .formats import check_replaceable, checked, codes_in, output_format, read_links, write_links
from .job import LinkJob, check_some_linked, summary, usual_part_size
from .parts import PartedOutput

_STRETCH = 2000  # documents of a process after which their words are forgotten, and workers replaced


@registry.pel_engines("spacy-pel.LocalEngine.v1")
@dataclass(kw_only=True)
class LocalEngine:
    """Links with this process, or with workers forked from it, which share the pages of the model and have
    one thread each; one process has as many threads as there are cores.

    A document that the pipeline fails on is left out of the output; OUTPUT.left_out.jsonl says why.

    Reads and writes every format of ``link``, one file or folder each. A worker that ends unexpectedly ends
    the run; parts that were saved by then are not linked again when it is resumed.

    Args:
        n_process: number of processes.
        batch_size: documents per batch; None = up to 64. With batches of another size, the last
            digit of a score may differ.
    """

    n_process: int = 1
    batch_size: int | None = None

    def __call__(self, job: LinkJob) -> dict[str, Any]:
        """Link a corpus.

        Args:
            job: local paths.

        Returns:
            See ``Engine``.

        Raises:
            PelError: if the input or the pipeline cannot be used, the output exists, a worker ended, or
                the pipeline failed on all documents.
        """
        source, output = Path(job.input), Path(job.output)
        to = output_format(job.to, output)
        parts = PartedOutput(f"{output}.parts", ".jsonl")
        if output.exists() and source.exists() and _is_inside(source, output):
            raise PelError(Errors.E649.format(path=output))
        # an output beside parts is an older one, which they will replace
        is_finished = output.exists() and not job.overwrite and not parts.exists()
        if is_finished and not job.resume:
            raise PelError(Errors.E657.format(path=output))
        check_replaceable(output, to)
        parts.check(resume=job.resume, overwrite=job.overwrite)
        # reading is a thousand times faster than linking, and finds what cannot be read before it begins
        has_text = Counter(bool(document.text.strip()) for document in checked(_documents(job), to))
        total, without_text = has_text.total(), has_text[False]
        if not total:
            raise PelError(Errors.E645.format(path=source))
        left_out_in = output.with_name(f"{output.name}.left_out.jsonl")
        if is_finished:
            left_out = list(read_jsonl(left_out_in)) if left_out_in.is_file() else []
            counts = _finished(job, to, {record["id"] for record in left_out})
            logger.info("Nothing to do: all documents are linked (%s)", f"{total:,}")
            started, before = time.perf_counter(), total
        else:
            if without_text:
                what = f"{total:,} document{'s' * (total > 1)} {'has' if without_text == 1 else 'have'}"
                logger.info("%s of %s no text to link", f"{without_text:,}", what)
            nlp, _, component = load_pipeline(Path(job.pipeline))
            codes = Codes(component.kb, job.codes)
            concepts = OmopConcepts.read(Path(job.omop_concepts), codes.names) if job.omop_concepts else None
            part_size = job.part_size or usual_part_size(total)
            settings: dict[str, Any] = {"input": _input_fingerprint(source, job.format_name)}
            settings["input_format"] = input_format(source, job.format_name)
            settings |= {"text_column": job.text_column, "id_column": job.id_column}
            settings["pipeline"] = pipeline_fingerprint(nlp, component)
            settings.update(n_candidates=job.n_candidates, part_size=part_size)
            settings["codes"] = ",".join(codes.names) or "none"
            parts.start(settings, resume=job.resume, overwrite=job.overwrite)
            started = time.perf_counter()
            try:
                counts, before = self._link(job, nlp, component, codes, parts, part_size, total)
                left_out = parts.left_out(parts.written())
                check_some_linked(counts, left_out, is_all=True)
                if left_out:
                    write_jsonl(left_out_in, left_out)
                else:
                    left_out_in.unlink(missing_ok=True)
                write_links(output, parts.records(parts.written()), to, codes.names, concepts)
            except KeyboardInterrupt:
                # counted on disk: the interrupt may have come after a part was written, before it was counted
                saved = parts.counts(parts.written())
                n_saved = f"{saved['documents'] + saved['left_out']:,} of {total:,}"
                todo = "run the same command with --resume to continue"
                logger.info("Interrupted. %s documents are saved; %s.", n_saved, todo)
                raise
            parts.remove()
        seconds = time.perf_counter() - started
        said: Any = {"left_out": left_out, "left_out_in": str(left_out_in), "without_text": without_text}
        return summary(counts, resumed_after=before, seconds=seconds, **said)

    def _link(
        self, job: LinkJob, nlp: Any, component: Any, codes: Codes, parts: PartedOutput, part_size: int, total: int
    ) -> tuple[Counter[str], int]:
        """Link the parts that are missing.

        Returns:
            The counts of all parts, and the number of documents that earlier runs had linked or left out.
        """
        written = set(parts.written())
        n_parts = next(number for number in numbers() if number not in written)
        counts = Counter(parts.counts(range(n_parts)))
        before = counts["documents"] + counts["left_out"]
        if before:
            logger.info("Resuming after %s of %s documents", f"{before:,}", f"{total:,}")
        documents = islice(_documents(job), before, None)
        batch_size = self.batch_size or min(nlp.batch_size, 64, -(-total // (4 * self.n_process)))
        with workers_end_with_this_process():
            records = _records(nlp, component, documents, self.n_process, batch_size, job.n_candidates, codes)
            shown = progress(records, description="Linking documents", total=total, start=before, warm_up=batch_size)
            try:
                for number in numbers(n_parts):
                    part = list(islice(shown, part_size))
                    if not part:
                        break
                    counts.update(parts.write(number, part))
                    check_some_linked(counts, part)
            except KeyboardInterrupt:
                # ends the bar's line, and the workers while spaCy's warning of that is silenced
                shown.close()
                records.close()
                raise
        return counts, before


def _documents(job: LinkJob) -> Iterator[Document]:
    return read_documents(Path(job.input), job.format_name, job.columns)


def _finished(job: LinkJob, to: str, left_out: set[str]) -> dict[str, int]:
    """Count what is in an output that exists. What it does not show is not checked: the pipeline that wrote it.

    Args:
        job: with the output.
        to: its format.
        left_out: ids of documents that it lacks.

    Raises:
        PelError: if its texts are not as many and as long as those of the input, or it lacks codes.
    """
    expected = sorted(len(document.text) for document in _documents(job) if document.id not in left_out)
    linked = (document for document in _documents(job) if document.id not in left_out)
    counts = {"documents": 0, "mentions": 0, "nil": 0}
    lengths = []
    try:
        for document in read_links(Path(job.output), to, linked):
            lengths.append(len(document.text))
            counts["documents"] += 1
            counts["mentions"] += len(document.mentions)
            counts["nil"] += sum(not mention.ids for mention in document.mentions)
    except PelError:
        lengths = []
    if sorted(lengths) != expected:
        raise PelError(Errors.E638.format(path=job.output, input=job.input))
    shown = codes_in(Path(job.output), to)
    keys = set(map(vocabulary_key, shown or ()))
    lacking = sorted(vocabulary_name(code) for code in job.codes if vocabulary_key(code) not in {*keys, "all"})
    if shown is not None and lacking:
        raise PelError(Errors.E691.format(path=job.output, got=", ".join(lacking)))
    return counts


def pipeline_fingerprint(nlp: Any, component: Any) -> str:
    """A hash of all that decides how a pipeline links."""
    linker = component.linker
    return fingerprint(
        nlp.config.to_str(),
        *linker.fingerprints.values(),
        learned_state(linker),
        *([linker.reranker.ranker.fingerprint] if linker.reranker else []),
    )


def _records(
    nlp: Any,
    component: Any,
    documents: Iterable[Document],
    n_process: int,
    batch_size: int,
    n_candidates: int,
    codes: Codes,
) -> Generator[dict[str, Any], None, None]:
    rest = iter(documents)
    read_names(nlp)  # once; forked workers share them
    stretch = n_process * batch_size * -(-_STRETCH // batch_size)  # whole batches, as without stretches
    for first in rest:
        some = chain([first], islice(rest, stretch - 1))
        # without a memory zone, and in a worker, a vocabulary keeps each word that it has seen
        with nlp.memory_zone():
            for processed in process_documents(nlp, some, n_process=n_process, batch_size=batch_size):
                yield document_record(component, processed, n_candidates, codes)


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a path is a folder, or a file, or in it."""
    return any(parent.exists() and parent.samefile(folder) for parent in (path, *path.resolve().parents))


def _input_fingerprint(path: Path, format_name: str) -> str:
    if path.is_dir():
        return fingerprint([[file.name, fingerprint(file)] for file in folder_files(path, format_name)])
    return fingerprint(path)


_parents: list[int] = []  # process ids whose workers are controlled; empty outside of the context


@contextmanager
def workers_end_with_this_process() -> Iterator[None]:
    """An interrupt or an error ends the workers before spaCy waits for them to finish their texts; on an
    interrupt, spaCy does not warn that they ended. Forked workers have one thread each.
    """
    quiet = ExitStack()
    others = set(multiprocessing.active_children())  # of the caller
    _parents.append(os.getpid())

    def interrupt(*_: Any) -> None:
        _kill_workers(others)
        quiet.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", message=r"\[W127\]")
        raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()  # others cannot set a handler
    before = signal.signal(signal.SIGINT, interrupt) if in_main else None
    try:
        yield
    except BaseException as error:
        _kill_workers(others)
        if isinstance(error, KeyboardInterrupt):
            # the frames it came through keep iterators that end, with the warning, once they are let go
            traceback.clear_frames(error.__traceback__)
        raise
    finally:
        quiet.close()
        if in_main:
            signal.signal(signal.SIGINT, before)
        _parents.pop()


def _kill_workers(others: set[Any]) -> None:
    for worker in multiprocessing.active_children():
        if worker not in others:
            worker.kill()


def _bound_worker() -> None:
    if _parents and os.getppid() == _parents[-1]:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        bound_threads(1)  # of BLAS, too, which has threads again after a fork


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_bound_worker)

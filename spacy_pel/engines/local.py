"""Linking on one machine, in one or several processes."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..corpora.formats.omop import OmopConcepts, note_id
from ..errors import Errors, PelError
from ..pipeline.detectors.name_finder import read_names
from ..registry import registry
from ..util import logger, read_json, write_json, write_jsonl
from ..util.processes import bound_threads
from .corpus import Part
from .job import LinkJob, LinkRun, PartLinker
from .output import PartedOutput, Report, are_nested, changed_settings, only_writer, output_format, write_links

_linker: PartLinker | None = None  # of this process, or of the one it was forked from


@registry.pel_engines("spacy-pel.LocalEngine.v1")
@dataclass(kw_only=True)
class LocalEngine:
    """Links with this process, or with workers forked from it, which share the pages of the model and have
    one thread each; one process has as many threads as there are cores.

    A document that the pipeline fails on is left out of the output; OUTPUT.left_out.jsonl says why.
    OUTPUT.done.json says that an output is whole.

    Writes every format of ``link``, one file or folder each. A worker that ends unexpectedly ends
    the run; parts that were saved by then are not linked again when it is resumed.

    Args:
        n_process: number of processes.
        batch_size: documents per batch; None = up to 64.
    """

    n_process: int = 1
    batch_size: int | None = None

    def __call__(self, job: LinkJob) -> dict[str, Any]:
        """Link a corpus.

        Args:
            job: its output is a local path.

        Returns:
            See ``Engine``.

        Raises:
            PelError: if the input or the pipeline cannot be used, the output exists, a worker ended, or
                the pipeline failed on all documents.
        """
        parts = PartedOutput(f"{job.output}.parts", ".jsonl")
        with only_writer(Path(parts.name)):
            return self._link(job, parts)

    def _link(self, job: LinkJob, parts: PartedOutput) -> dict[str, Any]:
        output = Path(job.output)
        to = output_format(job.to, output, terms=job.terms is not None)
        done, left_out = (output.with_name(f"{output.name}.{end}") for end in ("done.json", "left_out.jsonl"))
        if output.exists() and are_nested(job.input, job.output):
            raise PelError(Errors.E649.format(path=output))
        # an output beside parts is an older one, which they will replace
        is_finished = output.exists() and not job.overwrite and not parts.exists()
        if is_finished and not (job.resume and done.is_file()):
            raise PelError(Errors.E657.format(path=output))
        _check_replaceable(output, to)
        parts.check(resume=job.resume, overwrite=job.overwrite)
        run = LinkRun(job, self.batch_size, *([lambda document: note_id(document.id)] if to == "omop" else []))
        if is_finished:
            return run.summary(_finished(run, output, done), str(left_out))
        codes = run.job.codes
        concepts = OmopConcepts.read(Path(job.omop_concepts), codes) if job.omop_concepts else None
        try:
            report = run.link(parts, lambda missing: self._reports(run, parts, missing))
            done.unlink(missing_ok=True)
            left_out.unlink(missing_ok=True)
            if report.left_out:
                write_jsonl(left_out, report.left_out)
            write_links(output, parts, to, codes, concepts, terms=job.terms is not None)
        except KeyboardInterrupt:
            logger.info("Interrupted. What was linked is saved; run the same command with --resume to continue.")
            raise
        write_json(done, {"settings": run.settings, "report": asdict(report)})
        parts.remove()
        return run.summary(report, str(left_out))

    def _reports(self, run: LinkRun, output: PartedOutput, parts: Iterator[Part]) -> Generator[Report, None, None]:
        """Link and write parts."""
        global _linker
        linker = PartLinker(run.job, output, run.batch_size, pipeline=run.pipeline)
        if self.n_process == 1:
            for part in parts:
                yield linker.link(*part)
            return
        read_names(run.pipeline.nlp)  # once; forked workers share them
        _linker = linker
        children = set(multiprocessing.active_children())  # of the caller
        pool = ProcessPoolExecutor(self.n_process, initializer=start_worker, initargs=(run.job, output, run.batch_size))
        pending: set[Future[Report]] = set()
        try:
            for part in parts:
                if len(pending) == 2 * self.n_process:
                    reported, pending = wait(pending, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in reported)
                pending.add(pool.submit(_link_in_worker, part))
            yield from (future.result() for future in pending)
            children.update(multiprocessing.active_children())
        except BrokenProcessPool as err:
            raise PelError(Errors.E668) from err
        finally:
            _linker = None
            if killed := set(multiprocessing.active_children()) - children:  # after an error or an interrupt
                for child in killed:
                    child.kill()
                # Python before 3.11.6 waits for ever to write what no worker reads any more (gh-94777)
                pool._call_queue._reader.close()  # type: ignore[attr-defined]
            pool.shutdown(cancel_futures=True)


def start_worker(job: LinkJob, output: PartedOutput, batch_size: int) -> None:
    """Prepare a worker process: it has one thread, leaves interrupts to its parent, and ends when that is killed."""
    global _linker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    bound_threads(1)
    _linker = _linker or PartLinker(job, output, batch_size)  # it was spawned


def _end_with_parent() -> None:
    parent: Any = multiprocessing.parent_process()
    parent.join()
    os._exit(1)


def _link_in_worker(part: Part) -> Report:
    assert _linker is not None
    return _linker.link(*part)


def _finished(run: LinkRun, output: Path, done: Path) -> Report:
    """The report of an output that is whole.

    Raises:
        PelError: if it was written with other settings.
    """
    saved = read_json(done)
    if changed := changed_settings(saved["settings"], run.settings):
        raise PelError(Errors.E638.format(path=output, changed=changed))
    logger.info("Nothing to do: all documents are linked")
    return Report(**saved["report"])


def _check_replaceable(output: Path, format_name: str) -> None:
    """Check that an output that exists is one of its format, so that replacing it deletes nothing else.

    Raises:
        PelError: if a file is to replace a folder or the reverse, or a folder holds other files than
            BRAT's.
    """
    if not output.exists():
        return
    expected = "a folder of .txt and .ann files" if format_name == "brat" else "a file"
    got = "a folder" if output.is_dir() else "a file"
    if output.is_dir() != (format_name == "brat"):
        raise PelError(Errors.E647.format(path=output, wanted=expected, got=got))
    for file in output.iterdir() if output.is_dir() else ():
        if file.suffix not in (".txt", ".ann") or not file.is_file():
            raise PelError(Errors.E647.format(path=output, wanted=expected, got=f"one with {file.name}"))

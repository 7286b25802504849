"""Linking on one machine, in one or several processes."""

import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..corpora.document_stream import process_documents
from ..errors import Errors, PelError
from ..pipeline.detectors.name_finder import read_names
from ..pipeline.records import document_record
from ..pipeline.saved import load_pipeline
from ..registry import registry
from ..types import Document
from ..util import fingerprint, logger, progress, read_jsonl, write_jsonl
from .documents import folder_files, input_format, read_documents
from .finished import Finished, changed_settings, finished_run, remember_finished
from .forked_workers import workers_end_with_this_process
from .formats import check_replaceable, output_format, write_links
from .job import LinkJob, check_some_linked, count, summary, usual_part_size
from .resumable import PartFiles

_FORMAT = 2  # of the records in a part; 2: with "probability"
_STRETCH = 2000  # documents of a process after which their words are forgotten, and workers replaced


@registry.pel_engines("spacy-pel.LocalEngine.v1")
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

    def __init__(self, *, n_process: int = 1, batch_size: int | None = None):
        self.n_process = n_process
        self.batch_size = batch_size

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
        beside = output.with_name(f"{output.name}.left_out.jsonl")
        if output.exists() and source.exists() and _is_inside(source, output):
            raise PelError(Errors.E649.format(path=output))
        finished = None
        if output.exists() and not job.overwrite:
            finished = finished_run(output) if job.resume else None
            if finished is None:
                raise PelError((Errors.E638 if job.resume else Errors.E657).format(path=output))
        check_replaceable(output, to)
        # reading is a thousand times faster than linking, and finds what cannot be read before it begins
        lengths = Counter(bool(one.text.strip()) for one in read_documents(source, job.format_name))
        total, without_text = lengths.total(), lengths[False]
        if not total:
            raise PelError(Errors.E645.format(path=source))
        PartFiles.check_resumed(output, resume=job.resume)  # before loading, which takes its time
        part_size = job.part_size or usual_part_size(total)
        nlp, _, component = load_pipeline(Path(job.pipeline))
        batch_size = self.batch_size or min(nlp.batch_size, 64, -(-total // (4 * self.n_process)))
        settings = {
            "format": _FORMAT,
            "input": _input_fingerprint(source, job.format_name),
            "input_format": input_format(source, job.format_name),
            "pipeline": pipeline_fingerprint(nlp, component),
            "n_candidates": job.n_candidates,
            "part_size": part_size,
        }
        of_output = {**settings, "to": to}
        del of_output["part_size"]
        if finished is not None:
            if changed := changed_settings(finished.settings, of_output):
                raise PelError(Errors.E639.format(path=output, changed=changed))
            logger.info("Nothing to do: all documents are linked (%s)", f"{total:,}")
            failed = list(read_jsonl(beside)) if finished.counts["left_out"] and beside.is_file() else []
            return summary(
                finished.counts,
                resumed_after=total,
                seconds=0.0,
                left_out=failed,
                left_out_in=str(beside),
                without_text=without_text,
            )
        if without_text:
            what = f"{total:,} document{'s' * (total > 1)} {'has' if without_text == 1 else 'have'}"
            logger.info("%s of %s no text to link", f"{without_text:,}", what)
        parts = PartFiles(output, settings, resume=job.resume)
        done = len(parts.paths())
        counts = Counter(count(parts.records()))
        before = counts["documents"] + counts["left_out"]
        if done:
            logger.info("Resuming after %s of %s documents", f"{before:,}", f"{total:,}")
        started = time.perf_counter()
        rest = islice(read_documents(source, job.format_name), before, None)
        try:
            with workers_end_with_this_process():
                records = _records(nlp, component, rest, self.n_process, batch_size, job.n_candidates)
                shown = progress(
                    records, description="Linking documents", total=total, start=before, warm_up=batch_size
                )
                try:
                    while part := list(islice(shown, part_size)):
                        parts.write(done, part)
                        done += 1
                        counts.update(count(part))
                        check_some_linked(counts, _failures(parts))
                except KeyboardInterrupt:
                    # ends the bar's line, and the workers while spaCy's warning of that is silenced
                    shown.close()
                    records.close()
                    raise
            check_some_linked(counts, _failures(parts), is_all=True)
            failed = list(_failures(parts))
            if failed:
                write_jsonl(beside, failed)
            else:
                beside.unlink(missing_ok=True)
            write_links(output, (record for record in parts.records() if "error" not in record), to)
        except KeyboardInterrupt:
            # counted on disk: the interrupt may have come after a part was written, before it was counted
            logger.info(
                "Interrupted. %s of %s documents are saved; go on with the same command and --resume.",
                f"{parts.n_records():,}",
                f"{total:,}",
            )
            raise
        remember_finished(output, Finished(of_output, dict(counts)))
        parts.remove()
        seconds = time.perf_counter() - started
        return summary(
            counts,
            resumed_after=before,
            seconds=seconds,
            left_out=failed,
            left_out_in=str(beside),
            without_text=without_text,
        )


def _failures(parts: PartFiles) -> Iterator[dict[str, Any]]:
    return (record for record in parts.records() if "error" in record)


def pipeline_fingerprint(nlp: Any, component: Any) -> str:
    """Of all that decides how a pipeline links."""
    linker = component.linker
    return fingerprint(
        nlp.config.to_str(),
        *linker.fingerprints.values(),
        [linker.nil_threshold, linker.combiner.state(), linker.nil_model.state()],
        linker.calibrated_by_label,
        linker.confidence.state(),
        *([linker.label_types.state()] if linker.label_types else []),
        *([linker.reranker.ranker.fingerprint, linker.reranker.state()] if linker.reranker else []),
    )


def _records(
    nlp: Any, component: Any, documents: Iterable[Document], n_process: int, batch_size: int, n_candidates: int
) -> Generator[dict[str, Any], None, None]:
    rest = iter(documents)
    read_names(nlp)  # once; forked workers share them
    stretch = n_process * batch_size * -(-_STRETCH // batch_size)  # whole batches, as without stretches
    for first in rest:
        some = chain([first], islice(rest, stretch - 1))
        # without a memory zone, and in a worker, a vocabulary keeps each word that it has seen
        with nlp.memory_zone():
            for processed in process_documents(nlp, some, n_process=n_process, batch_size=batch_size):
                yield document_record(component, processed, n_candidates)


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a path is a folder, or a file, or in it."""
    return any(parent.exists() and parent.samefile(folder) for parent in (path, *path.resolve().parents))


def _input_fingerprint(path: Path, format_name: str) -> str:
    if path.is_dir():
        return fingerprint([[file.name, fingerprint(file)] for file in folder_files(path, format_name)])
    return fingerprint(path)

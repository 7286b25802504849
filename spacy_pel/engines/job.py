"""What to link, from where to where; and the run that all engines share: an engine decides who links which part."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ..errors import Errors, PelError
from ..kb.codes import Codes
from ..pipeline.linker_data import learned_state
from ..pipeline.saved import LoadedPipeline, load_pipeline
from ..types import Document
from ..util import fingerprint, logger
from ..util.console import progress_bar
from .batch import link_documents, process_pipeline
from .corpus import Columns, Corpus, Part
from .output import PartedOutput, Report
from .terms import TERM_COLUMNS, TermSettings, map_documents, usable_review


@dataclass(frozen=True)
class LinkJob:
    """A corpus to link.

    Attributes:
        pipeline: the pipeline's folder, or the name of an installed pipeline package.
        input, output: paths; an engine says which kinds it reads and writes.
        format_name: format of the input; "auto" = by its name and content.
        to: format of the output; "auto" = by its name.
        n_candidates: how many candidates to write per mention.
        part_size: documents per saved part; None = a 50th of them, 10 to 1,000.
        resume: continue an interrupted run.
        overwrite: replace an output that exists.
        text_column, id_column: columns or keys of the input, see ``Columns``.
        codes: vocabularies whose codes to add to each mention, or "all".
        min_p: the least P(right) of the mentions to write.
        omop_concepts: for OMOP, Athena's CONCEPT.csv, or "" = without concept ids.
        code: Python files with parts of the pipeline that are the user's own, which each worker imports.
        terms: the texts are terms, to be mapped as a whole; None = mentions in them are linked.
    """

    pipeline: str
    input: str
    output: str
    format_name: str = "auto"
    to: str = "auto"
    n_candidates: int = 5
    part_size: int | None = None
    resume: bool = False
    overwrite: bool = False
    text_column: str | None = None
    id_column: str | None = None
    codes: tuple[str, ...] = ()
    min_p: float = 0.0
    omop_concepts: str = ""
    code: tuple[str, ...] = ()
    terms: TermSettings | None = None


@runtime_checkable
class Engine(Protocol):
    """Links a corpus. Its class is registered in ``pel_engines`` and takes its settings as keywords, among
    them ``n_process`` (int) and ``batch_size`` (int or None), which ``link`` gives to every engine.
    """

    def __call__(self, job: LinkJob) -> dict[str, Any]:
        """Link a corpus; on an error, what was linked is kept for ``job.resume``.

        Returns:
            "documents", "mentions" and "nil" of the whole output, "resumed_after"
            (documents that an earlier run had linked), "seconds" and "documents_per_second" of this run.
            "without_text" is the number of documents that have none, where it is not 0; "left_out",
            where there are any, has "id" and "error" of each document that the pipeline failed on, and
            "left_out_in" is the file with the same.

        Raises:
            PelError: if the input or the pipeline cannot be used, the pipeline failed on all documents,
                or the output exists.
        """
        ...


class LinkRun:
    """The run of a job: what is linked, and what it depends on. An engine gives workers and an output.

    Args:
        job: what to link.
        batch_size: documents that the components process together; None = up to 64.
        check: called with each document before any is linked; raises a PelError where the output cannot hold it.

    Attributes:
        job: with the settings that were left to be chosen.
        pipeline: loaded.
        settings: what the links depend on.

    Raises:
        PelError: if the texts cannot be read or are none, the pipeline cannot be loaded, or has not these codes.
    """

    def __init__(
        self, job: LinkJob, batch_size: int | None, check: Callable[[Document], object] = lambda document: None
    ) -> None:
        columns = Columns(job.text_column, job.id_column)
        if job.terms:
            check, columns = job.terms.read, columns._replace(usual=TERM_COLUMNS, option="--term-column")
        self._corpus = corpus = Corpus(job.input, job.format_name, columns)
        self._n_documents = self._without_text = 0
        rows = set()
        # reading is a thousand times faster than linking, and finds what cannot be read before it begins
        for document in corpus:
            check(document)
            self._n_documents += 1
            self._without_text += not document.text.strip()
            if job.terms:
                rows.add((document.id, document.text.strip()))
        if not self._n_documents:
            raise PelError(Errors.E645.format(path=job.input))
        if n := self._without_text:
            kind = "term" if job.terms else "document"
            what = f"{self._n_documents:,} {kind}{'s' * (self._n_documents > 1)} {'has' if n == 1 else 'have'}"
            logger.info("%s of %s no text to link", f"{n:,}", what)
        self.pipeline = load_pipeline(Path(job.pipeline))
        nlp, _, component = self.pipeline
        if terms := job.terms:
            terms = replace(terms, reviewed=usable_review(terms.reviewed, rows, component.kb))
        codes, size = Codes(component.kb, job.codes).names, job.part_size or min(1000, max(10, self._n_documents // 50))
        self.job = job = replace(job, codes=codes, terms=terms, part_size=size)
        self.batch_size = batch_size or min(nlp.batch_size, 64)
        self.settings = {
            "input": corpus.fingerprint,
            "input_format": corpus.format,
            "text_column": job.text_column,
            "id_column": job.id_column,
            "pipeline": pipeline_fingerprint(nlp, component),
            "n_candidates": job.n_candidates,
            "min_p": job.min_p,
            "codes": ",".join(job.codes) or "none",
            **({"terms": {**vars(terms), "reviewed": fingerprint(list(terms.reviewed.values()))}} if terms else {}),
        }
        self._resumed_after, self._seconds = self._n_documents, 0.0

    def link(self, output: PartedOutput, workers: Callable[[Iterator[Part]], Generator[Report, None, None]]) -> Report:
        """Link the parts that the output lacks.

        Args:
            output: the parts.
            workers: link and write parts, see ``PartLinker``, and give a report of each.

        Returns:
            Of all parts.

        Raises:
            PelError: if the output cannot be resumed, the pipeline fails on all documents, or a worker fails.
        """
        job = self.job
        settings = self.settings | {"part_size": job.part_size, "kind": output.kind}
        output.start(settings, resume=job.resume, overwrite=job.overwrite)
        written = set(output.written())
        report = output.report(written)
        self._resumed_after = report.n_read
        if report.n_read == self._n_documents:
            logger.info("Nothing to do: all documents are linked")
        elif written:
            logger.info("Resuming after %s of %s documents", f"{report.n_read:,}", f"{self._n_documents:,}")
        started = time.perf_counter()
        missing = (part for part in self._corpus.parts(job.part_size or 1) if part.number not in written)
        n_missing = self._n_documents - self._resumed_after
        with closing(workers(missing)) as reports, progress_bar("Linking", n_missing) as bar:
            for linked in reports:
                report.add(linked)
                report.check()
                bar.update(linked.n_read)
        self._seconds = time.perf_counter() - started
        report = output.report(output.written())  # in order
        report.check(is_all=True)
        return report

    def summary(self, report: Report, left_out_in: str) -> dict[str, Any]:
        """What an engine returns.

        Args:
            report: of the whole output.
            left_out_in: the file that has the documents that were left out.
        """
        result: dict[str, Any] = {"documents": report.documents, "mentions": report.mentions, "nil": report.nil}
        if self._without_text:
            result["without_text"] = self._without_text
        if report.left_out:
            result |= {"left_out": report.left_out, "left_out_in": left_out_in}
        rate = (report.n_read - self._resumed_after) / max(self._seconds, 1e-9)
        result |= {"resumed_after": self._resumed_after, "seconds": round(self._seconds, 4)}
        return {**result, "documents_per_second": rate}


class PartLinker:
    """Links and writes parts, in the process of an engine or in a worker.

    Args:
        job: of a ``LinkRun``, which has chosen its settings.
        output: where to write.
        batch_size: documents that the components process together.
        pipeline: loaded; None = that of this process, see ``process_pipeline``.
        threads, device: of a pipeline that is loaded here.
    """

    def __init__(
        self,
        job: LinkJob,
        output: PartedOutput,
        batch_size: int,
        *,
        pipeline: LoadedPipeline | None = None,
        threads: int = 1,
        device: str | None = None,
    ) -> None:
        if pipeline is None:
            pipeline = process_pipeline(job.pipeline, threads=threads, device=device, code=job.code)
        self.pipeline, self.output = pipeline, output
        self.codes = Codes(pipeline.component.kb, job.codes)
        self.settings: dict[str, Any] = {"n_candidates": job.n_candidates, "min_p": job.min_p, "batch_size": batch_size}
        self.terms = job.terms

    def link(self, number: int, documents: list[Document]) -> Report:
        """Link a part and write it."""
        if self.terms:
            mapped = map_documents(self.pipeline, documents, self.terms, top_k=self.settings["n_candidates"])
            return self.output.write(number, mapped)
        linked = link_documents(self.pipeline, documents, codes=self.codes, **self.settings)
        return self.output.write(number, linked, codes=self.codes.names)


def pipeline_fingerprint(nlp: Any, component: Any) -> str:
    """A hash of all that decides how a pipeline links."""
    linker = component.linker
    ranker = [linker.reranker.ranker.fingerprint] if linker.reranker else []
    return fingerprint(nlp.config.to_str(), *linker.fingerprints.values(), learned_state(linker), *ranker)

"""Linking on a Ray cluster, or with Ray on one machine."""

import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError
from ..kb.codes import Codes
from ..pipeline.saved import load_pipeline
from ..registry import registry
from ..util import logger, progress
from .job import LinkJob, check_some_linked, count, summary
from .local import pipeline_fingerprint
from .parted_corpus import Part, PartedCorpus, link_part
from .parts import PartedOutput, file_system, output_kind
from .process_pipeline import process_pipeline


@registry.pel_engines("spacy-pel.RayEngine.v1")
@dataclass(kw_only=True)
class RayEngine:
    """Links with a pool of Ray actors, each with its own pipeline; Ray Data hands them the parts.

    Reads .parquet, .jsonl, .csv and .tsv, a file or a folder of them, and writes a folder of such files; all but
    .parquet may be gzipped. Paths may be URIs such as "s3://bucket/folder". The pipeline, ``job.code`` and the paths
    must be reachable from each node. An actor that dies is replaced, and its part linked again; so is a part whose
    reading or writing fails. A text that always kills its actor is tried until you stop the run.

    Args:
        n_process: number of actors.
        batch_size: documents per batch; None = 1, and 64 with GPUs. See ``link_batch``.
        threads: of an actor, and the CPUs that Ray keeps for it.
        gpus: of an actor; 0.5 = two actors share one.
        tries: how often to try a part that fails.
        address: of a running cluster, e.g. "auto"; None = that of RAY_ADDRESS, or Ray is started
            on this machine and ends with the run. Ray reports no usage unless RAY_USAGE_STATS_ENABLED=1 is set.
    """

    n_process: int = 1
    batch_size: int | None = None
    threads: int = 1
    gpus: float = 0.0
    tries: int = 3
    address: str | None = None

    def __post_init__(self) -> None:
        self.batch_size = self.batch_size or (64 if self.gpus else 1)

    def __call__(self, job: LinkJob) -> dict[str, Any]:
        """Link a corpus.

        Args:
            job: paths, or URIs.

        Returns:
            See ``Engine``.

        Raises:
            PelError: if Ray is not installed, the input or the pipeline cannot be used, the output
                exists, or a part failed.
        """
        with redirect_stdout(sys.stderr):  # where Ray prints its messages; stdout is for results
            return self._link(job)

    def _link(self, job: LinkJob) -> dict[str, Any]:
        ray = _import_ray()
        output = PartedOutput(job.output, output_kind(job.to, job.output))
        corpus = PartedCorpus(job.input, format_name=job.format_name, part_size=job.part_size, columns=job.columns)
        if output.overlaps(job.input):
            raise PelError(Errors.E649.format(path=job.output))
        output.check(resume=job.resume, overwrite=job.overwrite)
        # actors may run in another folder than this process
        job = replace(job, output=_absolute(job.output), code=tuple(map(_absolute, job.code)))
        if Path(job.pipeline).exists():
            job = replace(job, pipeline=_absolute(job.pipeline))
        nlp, _, component = load_pipeline(Path(job.pipeline))  # an error is known before any worker starts
        job = replace(job, codes=Codes(component.kb, job.codes).names)
        settings = {
            "input": corpus.fingerprint,
            "pipeline": pipeline_fingerprint(nlp, component),
            "kind": output.kind,
            "text_column": job.text_column,
            "id_column": job.id_column,
            "codes": ",".join(job.codes) or "none",
        }
        sizes = {"n_candidates": job.n_candidates, "part_size": corpus.part_size, "batch_size": self.batch_size}
        del nlp, component
        output.start(settings | sizes, resume=job.resume, overwrite=job.overwrite)
        written = output.written()
        counts = Counter(output.counts(written))
        parts = list(corpus.parts())
        before = sum(part.n for part in parts if part.number in set(written))
        counts["documents"] = before - counts["left_out"]  # a table lacks those without mentions
        if before == corpus.n_documents:
            logger.info("Nothing to do: all documents are linked (%s)", f"{before:,}")
        elif written:
            logger.info("Resuming after %s of %s documents", f"{before:,}", f"{corpus.n_documents:,}")
        started = time.perf_counter()
        missing = [part for part in parts if part.number not in set(written)]
        started_here = bool(missing) and self._start(ray)
        try:
            documents = self._linked(ray, missing, job, counts)
            for _ in progress(documents, description="Linking documents", total=corpus.n_documents, start=before):
                pass
        finally:
            if started_here:
                ray.shutdown()
        left_out = output.left_out(range(len(parts)))
        check_some_linked(counts, left_out, is_all=True)
        output.finish()
        seconds, path = time.perf_counter() - started, f"{job.output}/_left_out-*.jsonl"
        return summary(counts, resumed_after=before, seconds=seconds, left_out=left_out, left_out_in=path)

    def _start(self, ray: Any) -> bool:
        """Start Ray, unless it runs.

        Returns:
            Whether it was started here.
        """
        if ray.is_initialized():
            return False
        address = self.address or os.environ.get("RAY_ADDRESS")
        quiet: Any = {"log_to_driver": False, "logging_level": logging.WARNING}
        if address:
            ray.init(address=address, **quiet)
        else:
            # one CPU for what Ray Data does itself; only names of parts travel
            sizes: Any = {"num_cpus": self.n_process * self.threads + 1, "object_store_memory": 100_000_000}
            ray.init(address="local", include_dashboard=False, **sizes, **quiet)
        return True

    def _linked(self, ray: Any, parts: list[Part], job: LinkJob, counts: Counter[str]) -> Iterator[None]:
        """Link parts, and yield once for each of their documents.

        Args:
            counts: to which theirs are added.

        Raises:
            PelError: if a part cannot be read, or Ray failed.
        """
        if not parts:
            return
        from ray.data import ActorPoolStrategy, DataContext, from_items

        DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.WARNING)
        # libraries that read these as they start see the bound
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {"env_vars": {name: str(self.threads) for name in names}}
        actors = ActorPoolStrategy(size=min(self.n_process, len(parts)), max_tasks_in_flight_per_actor=2)
        needs: Any = {"num_cpus": self.threads, "num_gpus": self.gpus, "runtime_env": environment}
        rows = from_items([asdict(part) for part in parts], override_num_blocks=len(parts))
        linker: Any = _PartLinker
        linked = rows.map(linker, fn_constructor_args=(self, job), compute=actors, **needs)
        try:
            for row in linked.iter_rows():
                if row["error"]:
                    raise PelError(row["error"])
                counts.update({name: row[name] for name in count([])})
                yield from repeat(None, row["documents"] + row["left_out"])
        except ray.exceptions.RayError as err:
            raise PelError(Errors.E637.format(got=str(err).strip().splitlines()[-1])) from err


class _PartLinker:
    """An actor: a pipeline that links one part after the other."""

    def __init__(self, engine: RayEngine, job: LinkJob) -> None:
        self.engine, self.job = engine, job
        device = "cuda" if engine.gpus else None
        self.pipeline = process_pipeline(job.pipeline, threads=engine.threads, device=device, code=job.code)
        self.codes = Codes(self.pipeline.component.kb, job.codes)
        self.files, _ = file_system(job.input)
        self.output = PartedOutput(job.output, output_kind(job.to, job.output))

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Counts of a part, and what is wrong with its texts as "error"."""
        settings: Any = {"n_candidates": self.job.n_candidates, "batch_size": self.engine.batch_size}
        settings["columns"] = self.job.columns
        settings["codes"] = self.codes
        tries = 0
        while True:
            tries += 1
            try:
                counts = link_part(self.pipeline, self.files, Part(**row), self.output, **settings)
                return {**counts, "error": ""}
            except PelError as err:  # the next try would find the same
                return {"part": row["number"], **count([]), "error": str(err)}
            except Exception:
                if tries == self.engine.tries:
                    raise


def _absolute(path: str) -> str:
    return path if "://" in path else str(Path(path).absolute())


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.data
    except ImportError as err:
        raise PelError(Errors.E003.format(feature="The engine ray", package="ray[data]", extra="ray")) from err
    return ray

"""Linking on a Ray cluster, or with Ray on one machine."""

import logging
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError
from ..registry import registry
from .corpus import Part
from .job import LinkJob, LinkRun, PartLinker
from .output import PartedOutput, Report, are_nested, output_kind


@registry.pel_engines("spacy-pel.RayEngine.v1")
@dataclass(kw_only=True)
class RayEngine:
    """Links with a pool of Ray actors, each with its own pipeline, to which this process sends the parts.

    Writes a folder of .parquet, .jsonl, .csv or .tsv; all but .parquet may be gzipped. Paths may be URIs such as
    "s3://bucket/folder". The pipeline, ``job.code`` and the output must be reachable from each node. An actor that
    dies is replaced, and its part linked again. A text that always kills its actor is tried until you stop the run.

    Args:
        n_process: number of actors.
        batch_size: documents per batch; None = up to 64.
        threads: of an actor, and the CPUs that Ray keeps for it.
        gpus: of an actor; 0.5 = two actors share one.
        address: of a running cluster, e.g. "auto"; None = that of RAY_ADDRESS, or Ray is started
            on this machine and ends with the run. Ray reports no usage unless RAY_USAGE_STATS_ENABLED=1 is set.
    """

    n_process: int = 1
    batch_size: int | None = None
    threads: int = 1
    gpus: float = 0.0
    address: str | None = None

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
            ray = _import_ray()
            # actors may run in another folder than this process
            job = replace(job, output=_absolute(job.output), code=tuple(map(_absolute, job.code)))
            if Path(job.pipeline).exists():
                job = replace(job, pipeline=_absolute(job.pipeline))
            output = PartedOutput(job.output, output_kind(job.to, job.output))
            if are_nested(job.input, job.output):
                raise PelError(Errors.E649.format(path=job.output))
            output.check(resume=job.resume, overwrite=job.overwrite)
            run = LinkRun(job, self.batch_size)
            report = run.link(output, lambda missing: self._reports(ray, run, output, missing))
            output.finish(report)
            return run.summary(report, f"{job.output}/_left_out.jsonl")

    def _reports(
        self, ray: Any, run: LinkRun, output: PartedOutput, parts: Iterator[Part]
    ) -> Generator[Report, None, None]:
        """Link and write parts.

        Raises:
            PelError: if a part failed, or Ray did.
        """
        first = next(parts, None)
        if first is None:
            return
        from ray.util import ActorPool

        # libraries that read these as they start see the bound
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        needs: dict[str, Any] = {"num_cpus": self.threads, "num_gpus": self.gpus}
        needs["runtime_env"] = {"env_vars": {name: str(self.threads) for name in names}}
        settings = {"threads": self.threads, "device": "cuda" if self.gpus else None}
        started_here = self._start(ray)
        actors: list[Any] = []
        try:
            actor = ray.remote(max_restarts=-1, max_task_retries=-1, **needs)(PartLinker)
            actors += [actor.remote(run.job, output, run.batch_size, **settings) for _ in range(self.n_process)]
            pool: Any = ActorPool(actors)
            for part in chain([first], parts):
                if not pool.has_free():
                    yield pool.get_next_unordered()
                pool.submit(lambda actor, part: actor.link.remote(*part), part)
            while pool.has_next():
                yield pool.get_next_unordered()
        except ray.exceptions.RayError as err:
            if isinstance(getattr(err, "cause", None), PelError):  # of an actor
                raise err.cause from err
            raise PelError(Errors.E637.format(got=str(err).strip().splitlines()[-1])) from err
        finally:
            for started in actors:
                ray.kill(started)
            if started_here:
                ray.shutdown()

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
            sizes: Any = {"num_cpus": self.n_process * self.threads, "object_store_memory": 100_000_000}
            ray.init(address="local", include_dashboard=False, **sizes, **quiet)
        return True


def _absolute(path: str) -> str:
    return path if "://" in path else str(Path(path).absolute())


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.util
    except ImportError as err:
        raise PelError(Errors.E003.format(feature="The engine ray", package="ray", extra="ray")) from err
    return ray

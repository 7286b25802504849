"""Link the same documents with each engine, and kill a worker of each.

    python -m benchmarks.engines assets/pel_medmentions corpus/test.jsonl --documents 200 --workers 2

Each engine runs in processes of its own, with two workers of one thread: once undisturbed, and once with a
worker killed (SIGKILL) as soon as the first part is saved; ``link`` on one machine is then resumed. The
outputs must be equal to the byte once their lines are sorted; otherwise the exit code is 1. Memory is read
from ``/proc`` (Linux). Engines that are not installed are left out.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.soak import processes_of
from spacy_pel.corpora.formats.tables import parquet_rows
from spacy_pel.engines.corpus import Corpus
from spacy_pel.util import write_jsonl

HEAD = ("engine", "documents/s", "CPU s/document", "MB per worker", "private MB", "killed", "lost", "twice", "equal")
_EVERY = 0.5  # seconds between two looks at what runs
_MEMORY_EVERY = 10.0  # seconds between two readings of memory, which cost CPU time themselves
_SPARK = """
import os, sys
from pyspark.sql import SparkSession
from spacy_pel.engines import link_dataframe

pipeline, source, output, workers, parts = sys.argv[1:]
os.environ["PYSPARK_PYTHON"] = sys.executable
builder = SparkSession.builder.master(f"local[{workers},4]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
spark = builder.config("spark.driver.memory", "1g").getOrCreate()
df = spark.read.schema("id string, text string").json(source).repartition(int(parts))
link_dataframe(df, pipeline).write.parquet(output)
spark.stop()
"""


@dataclass
class Run:
    """What was seen of a run.

    Attributes:
        seconds: from start to end.
        cpu: CPU seconds of its workers.
        resident, private: most MB of a worker; private = shared with no other process.
        killed: workers killed.
    """

    seconds: float = 0.0
    cpu: float = 0.0
    resident: float = 0.0
    private: float = 0.0
    killed: int = 0
    _cpu_of: dict[int, float] = field(default_factory=dict)

    def look(self, workers: list[int]) -> None:
        """Read memory and CPU time of the workers."""
        for pid in workers:
            try:
                sizes = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf8").splitlines()[1:]
                times = Path(f"/proc/{pid}/stat").read_text(encoding="utf8").rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            found = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in sizes}
            self.resident = max(self.resident, found["Rss"])
            self.private = max(self.private, found["Private_Clean"] + found["Private_Dirty"])
            self._cpu_of[pid] = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
        self.cpu = sum(self._cpu_of.values())


def workers_of(pid: int) -> list[int]:
    """The descendants of a process that have a model: they have loaded torch."""
    found = []
    for one in processes_of(pid)[1:]:
        try:
            if "libtorch" in Path(f"/proc/{one}/maps").read_text(encoding="utf8"):
                found.append(one)
        except OSError:
            continue
    return found


def run(
    command: list[str], folder: Path, log: Path, *, kill: bool, saved: str = "part-*", every: float = _MEMORY_EVERY
) -> Run:
    """Run a command and look at its workers.

    Args:
        command: arguments of Python.
        folder: where its parts appear.
        log: what it writes.
        kill: kill a worker once there is a part.
        saved: pattern of parts that are whole.
        every: seconds between two readings of memory.

    Returns:
        What was seen. RAISES (RuntimeError): if it fails without being killed.
    """
    seen = Run()
    started = time.monotonic()
    with log.open("w", encoding="utf8") as output:
        running = subprocess.Popen(
            [sys.executable, *command], stdout=output, stderr=subprocess.STDOUT, env=_environment()
        )
        try:
            next_look = started
            while running.poll() is None:
                watches = time.monotonic() >= next_look
                workers = workers_of(running.pid) if watches or (kill and not seen.killed) else []
                if watches:
                    seen.look(workers)
                    next_look = time.monotonic() + every
                if kill and workers and not seen.killed and any(folder.rglob(saved)):
                    os.kill(workers[-1], signal.SIGKILL)
                    seen.killed += 1
                time.sleep(_EVERY)
        finally:
            running.kill()
            running.wait()
    seen.seconds = time.monotonic() - started
    if running.returncode and not kill:
        raise RuntimeError(f"{command[:3]} ended with {running.returncode}: {_end_of(log)}")
    return seen


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf8", errors="replace")[-1500:]


def lines_of(path: Path) -> list[str]:
    """The linked documents of a file or folder of Parquet, as sorted JSON lines."""
    files = sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]
    return sorted(json.dumps(record, ensure_ascii=False) for file in files for _, record in parquet_rows(file))


def command_of(
    engine: str, pipeline: Path, source: Path, output: Path, *, documents: int, workers: int, part_size: int
) -> list[str]:
    """What runs an engine, as arguments of Python."""
    if engine == "spark":
        return ["-c", _SPARK, *map(str, (pipeline, source, output, workers, -(-documents // part_size)))]
    command = ["-m", "spacy_pel", "link", *map(str, (pipeline, source, output))]
    command += ["--n-process", str(workers), "--batch-size", "1", "--part-size", str(part_size)]
    return [*command, *(["--engine", engine] if engine != "local" else [])]


def installed() -> list[str]:
    """The engines that can run here."""
    spark = find_spec("pyspark") is not None and shutil.which("java") is not None
    return ["local", *(["ray"] if find_spec("ray") else []), *(["spark"] if spark else [])]


def main(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder.")],
    corpus: Annotated[Path, typer.Argument(help="Texts, as link reads them.")],
    documents: Annotated[int, typer.Option(min=2, help="Number of texts, from the first on.")] = 200,
    workers: Annotated[int, typer.Option(min=1, help="Of each engine.")] = 2,
    part_size: Annotated[int, typer.Option(min=1, help="Documents per part.")] = 10,
    only: Annotated[
        list[str] | None, typer.Option(help="local, ray or spark (repeatable). [default: those installed]")
    ] = None,
) -> None:
    """Link with each engine and print a table. Exit code 1 = a document was lost, doubled, or differs."""
    table = Table(*HEAD)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="engines_") as holder:
        folder = Path(holder)
        source = folder / "in.jsonl"
        texts = list(Corpus(corpus))[:documents]
        write_jsonl(source, ({"id": one.id, "text": one.text} for one in texts))
        expected: str | None = None
        sizes = {"documents": len(texts), "workers": workers, "part_size": part_size}
        for engine in only or installed():
            seen: dict[bool, Run] = {}
            for kill in (False, True):
                output = folder / f"{engine}_{kill}.parquet"
                command = command_of(engine, pipeline, source, output, **sizes)
                parts = output if engine != "local" else output.with_name(output.name + ".parts")
                saved = "task_*" if engine == "spark" else "part-*"  # it writes to a part from the start
                seen[kill] = run(command, parts, folder / "log", kill=kill, saved=saved)
                if kill and engine == "local":
                    run([*command, "--resume"], parts, folder / "log", kill=False)
                if not output.exists():
                    raise RuntimeError(f"{engine}: {_end_of(folder / 'log')}")
                lines = lines_of(output)
                found = hashlib.sha256("\n".join(lines).encode("utf8")).hexdigest()
                expected = expected or found
                ids = [json.loads(line)["id"] for line in lines]
                lost, twice = len({one.id for one in texts} - {*ids}), len(ids) - len({*ids})
                faults += lost + twice + (found != expected) + (kill and not seen[kill].killed)
                first = seen[False]
                cells = [f"{len(texts) / first.seconds:.2f}", f"{first.cpu / len(texts):.2f}"]
                cells += [f"{first.resident:,.0f}", f"{first.private:,.0f}"]
                cells = cells if not kill else ["", "", "", ""]
                cells += [str(seen[kill].killed), str(lost), str(twice), "yes" if found == expected else "no"]
                table.add_row(engine if not kill else "", *cells)
                Console(stderr=True).print(engine, *cells)
    Console(width=110).print(table)
    if faults:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)

"""Link many texts with one command, or through one server, and watch the memory that it takes.

    python -m benchmarks.soak assets/pel_medmentions corpus/train.jsonl corpus/test.jsonl --documents 20000
    python -m benchmarks.soak assets/pel_medmentions corpus/train.jsonl corpus/test.jsonl --serve

The documents of the corpora are repeated until there are enough. Each repetition has some new words and
numbers in it, as new abstracts do, so that no text is there twice. ``spacy-pel link`` runs over them in a
process of its own, or ``spacy-pel serve`` gets them in requests of 16; its memory, with that of its
workers, is read from ``/proc`` (Linux). Memory is flat if
it does not grow by more than ``--limit`` after the first documents, in which caches fill; otherwise, or with
too few documents to tell, the exit code is 1.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from spacy_pel.engines.corpus import Corpus
from spacy_pel.util import write_jsonl

_EDITS = 4  # new words and numbers in each repeated text
_LETTERS = "abcdefghiklmnoprstuvxyz"
_EVERY = 2.0  # seconds between two readings
_REQUEST = 16  # texts


@dataclass(frozen=True)
class Reading:
    """Memory at one moment.

    Attributes:
        documents: that were linked by then, in whole parts.
        seconds: since the start.
        resident, own: MB of all processes; own = without the pages of files.
        largest: resident MB of the largest process.
        processes: number of processes.
    """

    documents: int
    seconds: float
    resident: float
    own: float
    largest: float
    processes: int


def varied(texts: Sequence[str], n: int, seed: int) -> Iterator[str]:
    """Repeat texts; from the second time on with other words and numbers in them.

    Args:
        texts: at least one.
        n: how many to make.
        seed: random seed.

    Yields:
        A text.
    """
    rng = random.Random(seed)
    for number in range(n):
        text = texts[number % len(texts)]
        yield text if number < len(texts) else _edited(text, rng)


def _edited(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    for _ in range(_EDITS):
        at = rng.randrange(len(words))
        if rng.random() < 0.5:
            words[at] = f"{rng.randrange(10**6)}.{rng.randrange(100)}"
        else:
            words[at] = "".join(rng.choices(_LETTERS, k=rng.randrange(5, 12)))
    return " ".join(words)


def processes_of(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for one in found:
        for thread in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in thread.read_text(encoding="utf8").split()]
            except OSError:  # it has ended
                continue
    return found


def memory_of(pid: int) -> dict[str, float]:
    """ "resident" and "own" MB of a process; zeros if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf8").splitlines()
    except OSError:
        lines = []
    found = {line.split()[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "RssAnon"))}
    return {"resident": int(found.get("VmRSS:", 0)) / 1024, "own": int(found.get("RssAnon:", 0)) / 1024}


def reading_of(pid: int, documents: int, seconds: float) -> list[Reading]:
    """One, of a process and its descendants; none if it has ended."""
    found = [one for one in map(memory_of, processes_of(pid)) if one["resident"]]
    if not found:
        return []
    sizes = [one["resident"] for one in found]
    own = sum(one["own"] for one in found)
    return [Reading(documents, seconds, sum(sizes), own, max(sizes), len(found))]


def watch(command: Sequence[str], parts: Path, part_size: int, log: Path) -> list[Reading]:
    """Run ``link`` and read its memory until it ends.

    Args:
        command: its arguments.
        parts: the folder where it saves its work on the way.
        part_size: documents in each part.
        log: what it writes.

    Returns:
        In order. RAISES (RuntimeError): if it fails.
    """
    readings: list[Reading] = []
    done = 0
    started = time.monotonic()
    with log.open("w", encoding="utf8") as output:
        running = subprocess.Popen(
            [sys.executable, "-m", "spacy_pel", *command], stdout=output, stderr=subprocess.STDOUT
        )
        try:
            while running.poll() is None:
                # the parts are removed at the end, while the processes still run
                done = max(done, sum(1 for _ in parts.glob("part-*.jsonl")) * part_size)
                readings += reading_of(running.pid, done, time.monotonic() - started)
                time.sleep(_EVERY)
        finally:
            running.kill()
            running.wait()
    if running.returncode:
        raise RuntimeError(f"link ended with {running.returncode}: {log.read_text(encoding='utf8')[-500:]}")
    return readings


def watch_server(pipeline: Path, texts: Iterable[str], log: Path) -> list[Reading]:
    """Run ``serve``, have it link texts, and read its memory between requests.

    Args:
        pipeline: the pipeline folder.
        texts: any number.
        log: what the server writes.

    Returns:
        In order. RAISES (RuntimeError): if it fails.
    """
    readings: list[Reading] = []
    done, started = 0, time.monotonic()
    command = [sys.executable, "-m", "spacy_pel", "serve", str(pipeline), "--port", "0", "--json"]
    with log.open("w", encoding="utf8") as output:
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True)
        assert running.stdout is not None
        try:
            line = running.stdout.readline()
            if not line:
                raise RuntimeError(f"serve ended: {log.read_text(encoding='utf8')[-500:]}")
            url = json.loads(line)["url"] + "/link"
            for some in batched(texts, _REQUEST):
                data = json.dumps({"text": some}).encode("utf8")
                asked = urllib.request.Request(url, data, {"Content-Type": "application/json"})
                with urllib.request.urlopen(asked, timeout=600) as answer:
                    done += len(json.load(answer)["documents"])
                seconds = time.monotonic() - started
                if not readings or seconds - readings[-1].seconds >= _EVERY:
                    readings += reading_of(running.pid, done, seconds)
            readings += reading_of(running.pid, done, time.monotonic() - started)
        finally:
            running.kill()
            running.wait()
    return readings


def batched(texts: Iterable[str], n: int) -> Iterator[list[str]]:
    """The next n texts, or what is left."""
    rest = iter(texts)
    while some := list(islice(rest, n)):
        yield some


def in_steps(readings: Sequence[Reading], step: int) -> list[Reading]:
    """Take from each step of documents the reading with the most resident memory.

    Args:
        step: number of documents. RETURNS (List[Reading]): in order of documents.
    """
    best: dict[int, Reading] = {}
    for reading in readings:
        key = reading.documents // step
        if key not in best or reading.resident > best[key].resident:
            best[key] = reading
    return [best[key] for key in sorted(best)]


def growth(steps: Sequence[Reading], after: int) -> float:
    """The most resident memory after the first documents, divided by that of the first step
    after them, less 1; nan = there are no two steps."""
    late = [step.resident for step in steps if step.documents >= after]
    return max(late) / late[0] - 1 if len(late) > 1 else float("nan")


def table_of(steps: Sequence[Reading], command: str) -> Table:
    """A row for each step."""
    table = Table(title=f"Memory of {command}, MB")
    for title in ("documents", "documents/s", "processes", "resident", "own", "largest process"):
        table.add_column(title, justify="right")
    for step in steps:
        rate = step.documents / step.seconds if step.seconds else 0.0
        sizes = (f"{size:,.0f}" for size in (step.resident, step.own, step.largest))
        table.add_row(f"{step.documents:,}", f"{rate:.1f}", f"{step.processes}", *sizes)
    return table


def main(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder.")],
    corpora: Annotated[list[Path], typer.Argument(help="Texts, as link reads them.")],
    documents: Annotated[int, typer.Option(min=1, help="Number of texts.")] = 20_000,
    processes: Annotated[int, typer.Option(min=1, help="Of link.")] = 1,
    after: Annotated[int, typer.Option(min=0, help="Documents after which memory must be flat.")] = 2000,
    step: Annotated[int, typer.Option(min=1, help="Documents per row of the table.")] = 1000,
    limit: Annotated[float, typer.Option(min=0.0, help="Growth that still counts as flat.")] = 0.03,
    seed: Annotated[int, typer.Option(help="Random seed of the edits.")] = 0,
    work: Annotated[Path | None, typer.Option(help="Where the texts and the output go; kept.")] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Through serve instead of link.")] = False,
) -> None:
    """Link many texts, print a table of the memory it took, and exit with 1 if it grew."""
    texts = [document.text for path in corpora for document in Corpus(path)]
    with tempfile.TemporaryDirectory(prefix="soak_") as holder:
        folder = work or Path(holder)
        folder.mkdir(parents=True, exist_ok=True)
        if serve:
            readings = watch_server(pipeline, varied(texts, documents, seed), folder / "serve.log")
        else:
            records = ({"id": str(at), "text": text} for at, text in enumerate(varied(texts, documents, seed)))
            write_jsonl(folder / "texts.jsonl", records)
            part_size = max(1, min(100, step))
            command = ["link", str(pipeline), str(folder / "texts.jsonl"), str(folder / "linked.jsonl")]
            command += ["--overwrite", "--n-process", str(processes), "--part-size", str(part_size)]
            readings = watch(command, folder / "linked.jsonl.parts", part_size, folder / "link.log")
    steps = in_steps(readings, step)
    console = Console(width=110)
    console.print(table_of(steps, "serve" if serve else "link"))
    grown = growth(steps, after)
    if math.isnan(grown):
        console.print(f"Too few documents: expected two steps of {step:,} after the first {after:,}")
    else:
        console.print(f"Growth after the first {after:,} documents: {100 * grown:.1f}%")
    if not grown <= limit:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)

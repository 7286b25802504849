"""Measure how fast a large knowledge base opens, its memory use and the speed of look-ups.

    python -m benchmarks.kb_open FOLDER --entities 2400000 --aliases 7400000

builds a knowledge base of made-up entities in FOLDER (2 GB at full size), opens it in new processes
and prints a table. The folder is deleted at the end unless ``--keep`` is given.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity

SYLLABLES = "ac al bi car cor cyt der emi fer gen hem itis lip mal neo osis pro ren tox uria".split()
_TYPES = [f"T{number:03}" for number in range(1, 128)]
_BATCH = 10_000


def made_up_entities(n_entities: int, n_aliases: int, *, seed: int = 0) -> Iterator[Entity]:
    """Entities with names of one to five made-up words; some names belong to several entities.

    Args:
        n_entities, n_aliases: number of each; the aliases are spread evenly.
        seed: random seed.

    Yields:
        One in five has a definition.
    """
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(SYLLABLES, rng.integers(2, 5))) for _ in range(50_000)]
    for first in range(0, n_entities, _BATCH):
        rows = range(first, min(first + _BATCH, n_entities))
        counts = [n_aliases * (row + 1) // n_entities - n_aliases * row // n_entities for row in rows]
        lengths = rng.integers(1, 6, size=len(rows) + sum(counts)).tolist()
        picks = iter(rng.integers(0, len(words), size=sum(lengths)).tolist())
        names = iter([" ".join([words[next(picks)] for _ in range(length)]) for length in lengths])
        kinds = rng.integers(0, len(_TYPES), size=len(rows)).tolist()
        for row, count, kind in zip(rows, counts, kinds, strict=True):
            yield Entity(
                concept_id=f"C{row:07}",
                canonical_name=next(names),
                aliases=tuple(next(names) for _ in range(count)),
                types=(_TYPES[kind],),
                definition=f"A condition, made up, of number {row}. " * 3 if row % 5 == 0 else None,
            )


def memory() -> dict[str, float]:
    """This process's memory in MB: "private" (pages that no other process
    maps, even of files), "own" (not of files), "files" (of files, shared by all processes that map them)."""
    megabytes = {}
    for line in Path("/proc/self/smaps_rollup").read_text(encoding="utf8").splitlines()[1:]:
        name, kilobytes = line.split()[:2]
        megabytes[name.rstrip(":")] = int(kilobytes) / 1024
    own = megabytes["Anonymous"]
    private = megabytes["Private_Clean"] + megabytes["Private_Dirty"]
    return {"private": private, "own": own, "files": megabytes["Rss"] - own}


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and the result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def measure(folder: Path, *, n_queries: int = 10_000) -> dict[str, float]:
    """Open a knowledge base and look things up; run it in a new process.

    Returns:
        Times in milliseconds or microseconds, memory in MB.
    """
    before = memory()
    seconds, kb = timed(lambda: KnowledgeBase.from_disk(folder))
    found = {"open, ms": 1e3 * seconds, "private memory of opening, MB": memory()["private"] - before["private"]}
    rng = np.random.default_rng(1)
    rows = rng.integers(0, kb.n_rows, size=n_queries)
    seconds, ids = timed(lambda: kb.ids_at(rows))
    found["ids of rows, batch, µs each"] = 1e6 * seconds / n_queries
    names = [kb.name_at(row) for row in rows.tolist()]
    for what, one, many, keys in (
        ("row of an id", kb.row, kb.rows, ids),
        ("rows of a name", lambda name: kb.rows_of_aliases([name])[0], kb.rows_of_aliases, names),
    ):
        seconds, _ = timed(lambda one=one, keys=keys: [one(key) for key in keys[:1000]])  # type: ignore[misc]
        found[f"{what}, one by one, µs each"] = 1e6 * seconds / 1000
        for warmth in ("first time", "again"):
            seconds, answer = timed(lambda many=many, keys=keys: many(keys))  # type: ignore[misc]
            found[f"{what}, {n_queries:,} at once, {warmth}, µs each"] = 1e6 * seconds / n_queries
        if not all(np.isin(row, hit).any() for row, hit in zip(rows, answer, strict=True)):
            raise SystemExit("A look-up gave a wrong row.")
    seconds, _ = timed(lambda: [kb[entity_id] for entity_id in ids[:1000]])
    found["entity of an id, µs each"] = 1e6 * seconds / 1000
    seconds, mask = timed(lambda: kb.rows_with_types(["T047", "T101"]))
    found["mask of two types, ms"] = 1e3 * seconds
    after = memory()
    found["own memory after all of this, MB"] = after["own"] - before["own"]
    found["pages of files in use, shared, MB"] = after["files"] - before["files"]
    return found


def measure_apart(folder: Path, n_processes: int) -> list[dict[str, float]]:
    """Run ``measure`` in several new processes at the same time.

    Returns:
        The result of each.
    """
    command = [sys.executable, __file__, str(folder), "--only-measure"]  # from any folder
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(n_processes)]
    outputs = [process.communicate()[0] for process in running]
    return [json.loads(output) for output in outputs]


def main(
    folder: Annotated[Path, typer.Argument(help="Where to build the knowledge base.")],
    entities: Annotated[int, typer.Option(help="Number of entities.")] = 2_400_000,
    aliases: Annotated[int, typer.Option(help="Number of aliases.")] = 7_400_000,
    processes: Annotated[int, typer.Option(help="Number of processes that share the files.")] = 4,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the folder.")] = False,
    only_measure: Annotated[bool, typer.Option("--only-measure", hidden=True)] = False,
) -> None:
    """Build, open and query a knowledge base of made-up entities; print a table."""
    if only_measure:
        typer.echo(json.dumps(measure(folder)))
        return
    cpu = time.process_time()
    seconds, kb = timed(lambda: KnowledgeBase.build(made_up_entities(entities, aliases), folder, show_progress=True))
    cpu = time.process_time() - cpu
    size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    title = f"{len(kb):,} entities, {kb.meta['counts']['aliases']:,} aliases, {size:,.0f} MB on disk"
    del kb  # pages that this process also maps would not count as private
    alone = measure_apart(folder, 1)[0]
    together = measure_apart(folder, processes)
    table = Table(title=title)
    table.add_column("", justify="left")
    table.add_column("one process", justify="right")
    table.add_column(f"{processes} processes, mean", justify="right")
    table.add_row("build, s", f"{seconds:,.1f}", "")
    table.add_row("build, s of CPU time", f"{cpu:,.1f}", "")
    for name, value in alone.items():
        mean = float(np.mean([found[name] for found in together]))
        table.add_row(name, f"{value:,.1f}", f"{mean:,.1f}")
    Console(width=100).print(table)
    if not keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    typer.run(main)

"""Measure search in an index: speed, memory, size, and recall against comparing every row.

    python -m benchmarks.search assets/pel_medmentions/proxy_entity_linker/index --rows 10000,100000,1000000

takes the vectors of an index, samples them or makes more like them up to each number of rows,
builds an exact index and a FaissIVF of 8-bit codes in a folder, opens both in new processes and prints a
table. A made-up row is a row of the index moved by half the difference of two others that are near
each other, so that clusters stay clusters; queries are made the same way. ``--rows 0`` compares the index
itself with its FaissIVF form, with all groups of rows that a linker searches. ``--queries FILE.npy`` searches
for real queries as well, e.g. vectors of mentions. Run it with OMP_NUM_THREADS=1 for times of one core.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.kb_open import memory
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.registry import registry
from spacy_pel.types import Vectors
from spacy_pel.util import read_json, write_json

_BLOCK = 32_768
_ABOUT, _FOUND = "about.json", "found.npz"
_SINGLE = 16  # queries that are timed one by one
_TOP = (1, 64)


def made_up(vectors: Vectors, n_rows: int, *, seed: int = 0) -> Iterator[Vectors]:
    """In all n_rows unit vectors; the first are those given, in random order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(vectors))
    anchors = vectors[order[:1024]]
    nearest = np.argmax(vectors @ anchors.T, axis=1)
    by_anchor = np.argsort(nearest, kind="stable")  # neighbours in this order are near each other
    place = np.empty(len(vectors), dtype=np.int64)
    place[by_anchor] = np.arange(len(vectors))
    for start in range(0, n_rows, _BLOCK):
        chosen = order[np.arange(start, min(start + _BLOCK, n_rows)) % len(vectors)]
        block = vectors[chosen]
        if start + len(block) > len(vectors):
            others = by_anchor[(place[chosen] + rng.integers(1, 50, (2, len(block)))) % len(vectors)]
            moved = block + 0.5 * (vectors[others[0]] - vectors[others[1]])
            moved /= np.linalg.norm(moved, axis=1, keepdims=True)
            new = np.arange(start, start + len(block)) >= len(vectors)
            block = np.where(new[:, None], moved, block)
        yield block.astype(np.float32)


def save(index: Any, folder: Path, groups: list[list[int]]) -> None:
    """Write a vector index and what is needed to open it. groups: first row and end of each."""
    folder.mkdir(parents=True)
    index.to_disk(folder)
    about = {"name": index.name, "settings": index.settings, "groups": groups}
    write_json(folder / _ABOUT, about)


def measure(folder: Path, queries: Path, k: int, batch: int) -> dict[str, Any]:
    """Open an index and search; run it in a new process. Rows found are written to the folder.

    Returns:
        Wall and CPU time in ms per query, memory in MB, seconds to open.
    """
    about, asked = read_json(folder / _ABOUT), np.load(queries)
    make = registry.pel_indexes.get(about["name"])
    before, started = memory(), time.perf_counter()
    index = make(**about["settings"]).from_disk(folder)
    found: dict[str, Any] = {"open, s": time.perf_counter() - started}
    found["private, MB"] = memory()["private"] - before["private"]
    masks = []
    for first, end in about["groups"]:
        mask = np.zeros(len(index), dtype=np.bool_)
        mask[first:end] = True
        mask.flags.writeable = False
        masks.append(None if mask.all() else mask)
    index.search_groups(asked[:batch], k, masks)  # reads the pages once
    for what, size, n_queries in (("batch", batch, len(asked)), ("single", 1, _SINGLE)):
        wall, cpu = time.perf_counter(), time.process_time()
        pieces = [index.search_groups(asked[i : min(i + size, n_queries)], k, masks) for i in range(0, n_queries, size)]
        found[f"{what}, ms"] = 1e3 * (time.perf_counter() - wall) / n_queries
        found[f"{what}, CPU ms"] = 1e3 * (time.process_time() - cpu) / n_queries
        if what == "batch":
            scores = [np.concatenate([piece[group][0] for piece in pieces]) for group in range(len(masks))]
            np.savez(folder / _FOUND, *scores)
    return found


def measure_apart(folder: Path, queries: Path, k: int, batch: int) -> dict[str, Any]:
    """``measure`` in a new process, and the size of the files."""
    size = sum(file.stat().st_size for file in folder.iterdir() if file.name not in (_ABOUT, _FOUND)) / 1e6
    command = [sys.executable, "-m", "benchmarks.search", str(folder), "--only-measure"]
    command += ["--queries", str(queries), "--k", str(k), "--batch", str(batch)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {**json.loads(output), "disk, MB": size}


def recall(found: Path, exact: Path) -> dict[str, float]:
    """Share of the best rows found, the lowest of all groups; a row with the
    same score is as good."""
    shares: dict[str, float] = {}
    with np.load(found) as mine, np.load(exact) as best:
        for name in best.files:
            for top in _TOP:
                if top <= best[name].shape[1]:
                    hits = mine[name][:, :top] >= best[name][:, top - 1 : top] - 1e-5
                    key = f"recall@{top}"
                    shares[key] = min(shares.get(key, 1.0), float(hits.mean()))
    return shares


def exact_and_fast(index: EntityIndex, n_rows: int, folder: Path) -> tuple[Path, Path]:
    """Write an exact index and its FaissIVF form.

    Args:
        index: the source. n_rows (int): number of rows; 0 = the index itself.

    Returns:
        Their folders.
    """
    exact, fast = folder / "exact", folder / "fast"
    live = np.flatnonzero(index.rows.live)
    vectors = index.vectors.vectors(0, len(index))[live]
    apart = np.zeros(n_rows, dtype=np.uint8) if n_rows else index.rows.searched_apart[live]
    groups = [[int(i[0]), int(i[-1]) + 1] for i in map(np.flatnonzero, (apart == 0, apart == 1)) if len(i)]
    for path, flat_below in ((exact, None), (fast, 20_000)):
        filled = FaissIVF(flat_below=flat_below, codes="int8")
        filled.train(vectors)
        for block in made_up(vectors, n_rows) if n_rows else [vectors]:
            filled.add(block)
        filled.finish(apart)
        save(filled, path, groups)
    return exact, fast


def by_size(
    index: Path,
    rows: Sequence[int],
    *,
    k: int,
    batch: int,
    n_queries: int = 512,
    queries: Path | None = None,
    folder: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Measure an index at several sizes.

    Args:
        index: its folder.
        rows: numbers of rows; 0 = the index as it is.
        k: rows to find.
        batch: queries of a batch.
        n_queries: number of queries.
        queries: a .npy file of more query vectors.
        folder: for the indexes; None = a temporary one.

    Yields:
        For each size, queries, and exact or fast: "rows", "index", "queries", and what was measured.
    """
    source = EntityIndex.from_disk(index)
    assert isinstance(source.vectors, FaissIVF)
    vectors = source.vectors.vectors(0, len(source))
    asked = {"made up": np.concatenate(list(made_up(vectors, len(vectors) + n_queries, seed=1)))[-n_queries:]}
    if queries is not None:
        given = np.load(queries)
        asked["given"] = given[np.random.default_rng(0).permutation(len(given))[:n_queries]]
    with tempfile.TemporaryDirectory(dir=folder) as holder:
        place = Path(holder)
        for kind, chosen in asked.items():
            np.save(place / f"{kind}.npy", chosen)
        for wanted in rows:
            here = place / str(wanted)
            exact, fast = exact_and_fast(source, wanted, here)
            for kind, which in product(asked, (exact, fast)):
                found = measure_apart(which, place / f"{kind}.npy", k, batch)
                found.update(recall(which / _FOUND, exact / _FOUND))
                name = read_json(which / _ABOUT)["name"].split(".")[1] if which == fast else "exact"
                yield {"rows": f"{wanted or len(source):,}", "index": name, "queries": kind, **found}
            shutil.rmtree(here)


def table_of(found: Sequence[Mapping[str, Any]], title: str = "") -> Table:
    """A row for each of ``by_size``."""
    table = Table(title=title)
    for column in found[0]:
        table.add_column(column, justify="right")
    for row in found:
        table.add_row(*(_cell(key, value) for key, value in row.items()))
    return table


def _cell(key: str, value: str | float) -> str:
    if isinstance(value, float):
        return f"{value:,.{4 if 'recall' in key else 2}f}"
    return f"{value:,}" if isinstance(value, int) else value


def main(
    index: Annotated[Path, typer.Argument(help="An index folder.")],
    rows: Annotated[str, typer.Option(help="Numbers of rows, by commas; 0 = the index as it is.")] = "0",
    queries: Annotated[Path | None, typer.Option(help="A .npy file of more query vectors.")] = None,
    n_queries: Annotated[int, typer.Option(help="Number of queries.")] = 512,
    k: Annotated[int, typer.Option(help="Rows to find.")] = 128,
    batch: Annotated[int, typer.Option(help="Queries of a batch.")] = 256,
    folder: Annotated[Path | None, typer.Option(help="For the indexes; default: a temporary one.")] = None,
    only_measure: Annotated[bool, typer.Option("--only-measure", hidden=True)] = False,
) -> None:
    """Print speed, memory, size and recall of an index and its FaissIVF form."""
    if only_measure:
        assert queries is not None
        typer.echo(json.dumps(measure(index, queries, k, batch)))
        return
    sizes = [int(one) for one in rows.split(",")]
    found = list(by_size(index, sizes, k=k, batch=batch, n_queries=n_queries, queries=queries, folder=folder))
    Console(width=160).print(table_of(found, f"k = {k}, batches of {batch}"))


if __name__ == "__main__":
    typer.run(main)

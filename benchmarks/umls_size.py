"""Measure ``kb build`` on made-up UMLS tables of the size and shape of a release.

    python -m benchmarks.umls_size --concepts 100000,2360000 --out corpus

writes MRCONSO, MRSTY, MRDEF, MRRANK and MRCUI for each number of concepts, runs ``kb build`` and opens the
knowledge base in new processes, and prints a table. At the default size MRCONSO has 10 million rows, and the
filters (``--types st21pv --languages ENG``) keep 2.36 million concepts with 7.4 million names. The files
(3 GB at this size) are deleted at the end unless ``--keep`` is given.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.kb_open import measure_apart
from spacy_pel.types.semantic_types import ST21PV, semantic_types, with_descendants
from spacy_pel.util import read_json

TABLES = ("MRCONSO", "MRSTY", "MRDEF", "MRRANK", "MRCUI")
_BLOCK = 10_000  # concepts at a time
_SYLLABLES = "ac al bi car cor cyt der emi fer gen hem itis lip mal neo osis pro ren tox uria vas zol".split()
_FORMS = [
    *["{}"] * 8,
    *("{} (disorder)", "{}, unspecified", "{} [EPC]", "{}, NOS", "{} 10 MG/ML Oral Solution", "α-{}"),
]
_SOURCES = [
    f"{source}|{kind}"
    for source in ("MSH", "SNOMEDCT_US", "NCI", "RXNORM", "MTH", "HPO", "NCBI", "OMIM", "ICD10CM")
    for kind in ("PT", "SY", "PN", "IN", "ET")
]
_WANTED = sorted(with_descendants(ST21PV))
_OTHER = sorted(set(semantic_types()) - set(_WANTED))
_SHARE = 0.8  # of the concepts have a type of st21pv
_NAMES = 3.52  # names of a concept, on average, before repeated ones are dropped
_EXTRAS = 0.081  # rows per name that add none: repeated, obsolete, or Spanish
_DEFINED = 0.12  # of the concepts
_MERGED = 0.1  # retired CUIs per concept


def write_tables(folder: Path, n_concepts: int, *, seed: int = 0) -> dict[str, int]:
    """Write made-up tables, block by block.

    Args:
        folder: the META folder to write.
        n_concepts: number of concepts that the filters keep.
        seed: random seed.

    Returns:
        Number of rows of each table.
    """
    folder.mkdir(parents=True)
    counts = dict.fromkeys(TABLES, 0)
    with ExitStack() as stack:
        files = {
            name: stack.enter_context((folder / f"{name}.RRF").open("w", encoding="utf8", newline="\n"))
            for name in TABLES
        }
        for block in _blocks(n_concepts, np.random.default_rng(seed)):
            for name, lines in block.items():
                files[name].writelines(lines)
                counts[name] += len(lines)
    return counts


def _blocks(n_concepts: int, rng: np.random.Generator) -> Iterator[dict[str, list[str]]]:
    """Lines by table."""
    yield {"MRRANK": [f"{rank:04}|{source}|N|\n" for rank, source in enumerate(reversed(_SOURCES))]}
    words = np.array(["".join(rng.choice(_SYLLABLES, rng.integers(2, 5))) for _ in range(60_000)])
    atoms = count(1)
    n_done = n_kept = 0
    while n_kept < n_concepts:
        kept = rng.random(_BLOCK) < _SHARE
        kept = kept[: np.searchsorted(np.cumsum(kept), n_concepts - n_kept) + 1]
        numbers = range(3 * n_done, 3 * (n_done + len(kept)), 3)
        cuis = [f"C{number:07}" for number in numbers]
        rows = [
            (cui, next(atoms), name)
            for cui, names in zip(cuis, _names(len(cuis), words, rng), strict=True)
            for name in names
        ]
        retired = np.flatnonzero(rng.random(len(cuis)) < _MERGED).tolist()
        yield {
            "MRCONSO": _name_lines(rows, rng),
            "MRSTY": _type_lines(cuis, kept, rng),
            "MRDEF": _definition_lines(rows, words, rng),
            "MRCUI": [f"C{numbers[at] + 1:07}|2019AA|SY|||{cuis[at]}|Y|\n" for at in retired],
        }
        n_done, n_kept = n_done + len(kept), n_kept + int(kept.sum())


def _texts(n_texts: int, low: int, high: int, words: NDArray[np.str_], rng: np.random.Generator) -> list[str]:
    """Texts of low to high words; few words are frequent."""
    lengths = rng.integers(low, high + 1, size=n_texts)
    picked = words[(rng.random(lengths.sum()) ** 3 * len(words)).astype(np.int64)].tolist()
    ends = np.cumsum(lengths).tolist()
    return [" ".join(picked[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def _names(n_concepts: int, words: NDArray[np.str_], rng: np.random.Generator) -> Iterator[list[str]]:
    """The names of a concept; half of them are forms of the first one."""
    spread = 0.6  # most concepts have one or two names, a few have dozens
    n_names = 1 + rng.negative_binomial(spread, spread / (spread + _NAMES - 1), size=n_concepts)
    texts = _texts(n_names.sum(), 1, 6, words, rng)
    forms = rng.integers(len(_FORMS), size=len(texts)).tolist()
    same = (rng.random(len(texts)) < 0.5).tolist()
    ends = np.cumsum(n_names).tolist()
    for start, end in zip([0, *ends], ends, strict=False):
        others = [
            _FORMS[forms[at]].format(texts[start] if same[at] else texts[at].capitalize())
            for at in range(start + 1, end)
        ]
        yield list(dict.fromkeys([texts[start].capitalize(), *others]))


def _name_lines(rows: list[tuple[str, int, str]], rng: np.random.Generator) -> list[str]:
    sources = rng.integers(len(_SOURCES), size=len(rows)).tolist()
    chances = rng.random(len(rows)).tolist()
    lines, last = [], ""
    for (cui, atom, name), source, chance in zip(rows, sources, chances, strict=True):
        flags = "S|{}|VO|{}|N|{}" if cui == last else "P|{}|PF|{}|Y|{}"
        flags = flags.format(f"L{atom:08}", f"S{atom:08}", f"A{atom:09}")
        rest = f"||{atom}||{_SOURCES[source]}|D{atom}"
        lines.append(f"{cui}|ENG|{flags}{rest}|{name}|0|N||\n")
        if chance < _EXTRAS:
            kind = int(3 * chance / _EXTRAS)
            language, suppressed = ("SPA" if kind == 1 else "ENG"), ("O" if kind == 2 else "N")
            text = f"{name} ({kind})" if kind else name
            lines.append(f"{cui}|{language}|{flags}1{rest}|{text}|0|{suppressed}||\n")
        last = cui
    return lines


def _type_lines(cuis: list[str], kept: NDArray[np.bool_], rng: np.random.Generator) -> list[str]:
    picks, chances = rng.random((2, len(cuis))).tolist()
    lines = []
    for cui, wanted, pick, chance in zip(cuis, kept.tolist(), picks, chances, strict=True):
        types = _WANTED if wanted else _OTHER
        first = int(pick * len(types))
        for at in (first, first + 1) if chance < 0.1 else (first,):
            tui = types[at % len(types)]
            row = semantic_types()[tui]
            lines.append(f"{cui}|{tui}|{row.tree_number}|{row.name}|AT{at:08}|256|\n")
    return lines


def _definition_lines(rows: list[tuple[str, int, str]], words: NDArray[np.str_], rng: np.random.Generator) -> list[str]:
    defined = np.flatnonzero(rng.random(len(rows)) < _DEFINED / _NAMES).tolist()
    texts = _texts(len(defined), 8, 45, words, rng)
    sources = rng.choice(["MSH", "NCI", "HPO", "CSP"], size=len(defined)).tolist()
    lines = []
    for at, text, source in zip(defined, texts, sources, strict=True):
        cui, atom, _ = rows[at]
        lines.append(f"{cui}|A{atom:09}|AT{atom:09}||{source}|{text.capitalize()}.|N|256|\n")
    return lines


def build(meta: Path, out: Path) -> dict[str, float]:
    """Run ``kb build`` in a new process.

    Args:
        meta: the META folder.
        out: the folder of the knowledge base.

    Returns:
        Wall and CPU seconds, and the peak of its resident memory in GB, in which the
        pages of files that it has mapped count too.
    """
    command = [sys.executable, "-m", "spacy", "pel", "kb", "build", str(out), "--reader", "umls", str(meta)]
    command += ["--types", "st21pv", "--languages", "ENG"]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit("kb build failed.")
    cpu = used.ru_utime + used.ru_stime
    return {"seconds": seconds, "CPU seconds": cpu, "peak memory, GB": used.ru_maxrss / 1e6}


def measure(meta: Path, out: Path) -> dict[str, float]:
    """The columns of the table, of building and opening a knowledge base."""
    built = build(meta, out)
    counts = read_json(out / "meta.json")["counts"]
    opened = measure_apart(out, 1)[0]
    return {
        "concepts": counts["entities"],
        "names": counts["entities"] + counts["aliases"],
        **built,
        "folder, GB": sum(file.stat().st_size for file in out.iterdir()) / 1e9,
        "open, s": opened["open, ms"] / 1e3,
        "private, MB": opened["private memory of opening, MB"],
    }


def main(
    out: Annotated[Path, typer.Option(help="An existing folder for the files.")],
    concepts: Annotated[str, typer.Option(help="Numbers of concepts, by commas.")] = "2360000",
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the files.")] = False,
) -> None:
    """Build knowledge bases from made-up UMLS tables; print a table of times, memory and sizes."""
    table = Table(title=f"kb build --reader umls, seed {seed}")
    for number in map(int, concepts.split(",")):
        place = Path(tempfile.mkdtemp(prefix=f"umls-{number}-", dir=out))
        try:
            rows = write_tables(place / "META", number, seed=seed)
            found = {"rows of MRCONSO": rows["MRCONSO"], **measure(place / "META", place / "kb")}
        finally:
            if not keep:
                shutil.rmtree(place)
        if not table.columns:
            for title in found:
                table.add_column(title, justify="right")
        table.add_row(*(f"{value:,}" if isinstance(value, int) else f"{value:,.2f}" for value in found.values()))
    Console(width=160).print(table)


if __name__ == "__main__":
    typer.run(main)

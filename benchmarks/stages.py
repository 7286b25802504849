"""Measure where a linker spends its time: CPU milliseconds per mention of each stage.

    python -m benchmarks.stages assets/pel_medmentions corpus.jsonl --documents 100

The gold mentions are linked, so that no detector runs. Each stage's time leaves out the stages inside
it. CPU time counts all threads and leaves out other processes. What the pipeline remembers is filled with
documents that are not measured.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import spacy
import torch
import typer
from rich.console import Console
from rich.table import Table
from spacy.language import Language
from spacy.tokens import Doc

from spacy_pel.candidates import bi_encoder, evidence
from spacy_pel.candidates.form_cache import FormCache
from spacy_pel.candidates.name_evidence import NamePairs
from spacy_pel.corpora import read_corpus
from spacy_pel.corpora.formats.docbin import with_gold
from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.linking.decider import Decider
from spacy_pel.types import Document
from spacy_pel.util import machine_note, write_json

NAME = "proxy_entity_linker"
ENCODE, REST = "encode", "other"


class Stopwatch:
    """CPU seconds by stage, where a stage inside another one counts for itself only.

    Args:
        clock: the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.process_time):
        self.seconds: dict[str, float] = {}
        self._clock = clock
        self._stages: list[str] = []
        self._since = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what runs inside for this stage."""
        self._switch()
        self._stages.append(name)
        try:
            yield
        finally:
            self._switch()
            self._stages.pop()

    def _switch(self) -> None:
        now = self._clock()
        if self._stages:
            stage = self._stages[-1]
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now

    def around(self, name: str, function: Callable) -> Callable:
        """The function, measured."""

        def measured(*args: Any, **kwargs: Any) -> Any:
            with self.stage(name):
                return function(*args, **kwargs)

        return measured


def stages_of(component: Any) -> list[tuple[str, Any, str]]:
    """Each stage, and the class or module and name of a function of it;
    outer ones first."""
    linker = component.linker
    found = [
        ("spans and batches", type(component), "predict"),
        ("links as objects", type(linker), "link"),
        ("topics", type(linker.finder.topics), "shares"),
        ("form cache", FormCache, "__call__"),
        ("candidates", type(linker.generator), "find_candidates"),
        (ENCODE, type(linker.encoder), "encode_mentions"),
        ("evidence: joining", bi_encoder, "find_candidates"),
        ("search", EntityIndex, "search_groups"),
        ("evidence: names", evidence, "rows_by_name"),
        ("evidence: priors", evidence, "named_before"),
        ("evidence: best rows", evidence.Pairs, "best"),
        ("evidence: votes", evidence, "votes"),
        ("evidence: spelling", NamePairs, "similarity"),
        ("combiner", type(linker.decider.combiner), "__call__"),
        ("reranker", type(linker.reranker), "__call__"),
        ("NIL model", Decider, "nil_scores"),
        ("writing to the Doc", type(component), "set_annotations"),
    ]
    missing = type(None)
    return [(stage, owner, name) for stage, owner, name in found if owner is not missing]


def gold_docs(nlp: Language, documents: Sequence[Document]) -> list[Doc]:
    """With the gold mentions that ``doc.ents`` can hold, where the component looks."""
    docs = [with_gold(nlp.make_doc(document.text), document, Counter()) for document in documents]
    spans_key = nlp.get_pipe(NAME).spans_key  # type: ignore[attr-defined]
    for doc in docs if spans_key is not None else ():
        doc.spans[spans_key] = doc.ents
    return docs


def measure(
    nlp: Language, documents: Sequence[Document], *, warm_up: Sequence[Document] = ()
) -> tuple[int, dict[str, float]]:
    """Link the gold mentions of documents.

    Args:
        nlp: a pipeline with the component.
        documents: annotated documents.
        warm_up: linked before, not measured.

    Returns:
        Number of mentions, and CPU seconds by stage, of all stages in the
        order in which they run.

    Raises:
        PelError: if there is no mention.
    """
    component: Any = nlp.get_pipe(NAME)
    component.overwrite = True  # the gold mentions have ids
    list(component.pipe(gold_docs(nlp, warm_up)))
    docs = gold_docs(nlp, documents)
    n_mentions = sum(len(doc.ents) for doc in docs)
    if not n_mentions:
        raise PelError(f"Expected mentions in {len(docs)} documents, got none.")
    watch = Stopwatch()
    with ExitStack() as stack:
        stages = stages_of(component)
        for stage, owner, name in stages:
            stack.enter_context(patch.object(owner, name, watch.around(stage, getattr(owner, name))))
        with watch.stage(REST):
            for _ in component.pipe(docs):
                pass
    names = [*(stage for stage, _, _ in stages), REST]
    return n_mentions, {name: watch.seconds[name] for name in names if name in watch.seconds}


def table_of(n_mentions: int, seconds: dict[str, float], title: str) -> Table:
    """A row for each stage, one for all, and one for all but the encoder."""
    total = sum(seconds.values())
    rows = {**seconds, "all": total, "all but the encoder": total - seconds.get(ENCODE, 0.0)}
    table = Table(title=title)
    table.add_column("stage", no_wrap=True)
    table.add_column("CPU ms per mention", justify="right")
    table.add_column("share, %", justify="right")
    for name, spent in rows.items():
        if name == "all":
            table.add_section()
        table.add_row(name, f"{1000 * spent / n_mentions:.3f}", f"{100 * spent / max(total, 1e-9):.1f}")
    return table


def main(
    pipeline: Annotated[Path, typer.Argument(help="A pipeline with the linker.")],
    corpus: Annotated[Path, typer.Argument(help="The annotated corpus (JSON lines).")],
    documents: Annotated[int, typer.Option(help="Number of documents to measure.")] = 100,
    warm_up: Annotated[int, typer.Option(help="Number of documents linked before them.")] = 5,
    threads: Annotated[int, typer.Option(help="Threads of torch and FAISS.")] = 1,
    output: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
) -> None:
    """Print CPU milliseconds per mention and share of each stage."""
    import faiss

    torch.set_num_threads(threads)
    faiss.omp_set_num_threads(threads)
    nlp = spacy.load(pipeline)
    try:
        read = list(islice(read_corpus(corpus), warm_up + documents))
        n_mentions, seconds = measure(nlp, read[warm_up:], warm_up=read[:warm_up])
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    title = f"{pipeline.name}: {n_mentions:,} mentions in {len(read[warm_up:])} documents"
    Console(width=130).print(table_of(n_mentions, seconds, title))
    Console(width=130).print(machine_note(), soft_wrap=True)
    if output is not None:
        write_json(output, {"machine": machine_note(), "mentions": n_mentions, "cpu_seconds": seconds})


if __name__ == "__main__":
    typer.run(main)

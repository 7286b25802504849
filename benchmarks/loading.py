"""Measure the steps from ``import spacy`` to the first linked documents: CPU seconds of one thread, and memory.

    python -m benchmarks.loading assets/pel_medmentions corpus.jsonl --repeats 5

Each repeat is a process of its own. A step's CPU time is the least of all repeats; memory is that of the last one.
spaCy imports all installed plugins; ``--only-ours`` leaves out those of others, such as spacy-transformers.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import typer  # spaCy imports it, too

TEXT = "Metformin lowers glucose in patients with type 2 diabetes."
OURS = ("spacy.", "spacy_legacy.", "spacy_loggers.", "spacy_pel.")


class Steps:
    """Notes what each step took, the first one since the process began.

    Attributes:
        done: name, CPU seconds, and megabytes after the step: resident, and not of files.
    """

    def __init__(self) -> None:
        self.done: list[tuple[str, float, float, float]] = []
        self._since = 0.0

    def end(self, name: str) -> None:
        """End a step."""
        seconds = time.process_time() - self._since
        lines = Path("/proc/self/smaps_rollup").read_text(encoding="utf8").splitlines()[1:]
        kilobytes = {line.split()[0]: int(line.split()[1]) for line in lines}
        self.done.append((name, seconds, kilobytes["Rss:"] / 1024, kilobytes["Anonymous:"] / 1024))
        self._since = time.process_time()

    def ending(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The function; a step ends with it."""

        def run(*args: Any, **settings: Any) -> Any:
            result = function(*args, **settings)
            self.end(name)
            return result

        return run


def measure(pipeline: Path, corpus: Path | None, *, n_documents: int, only_ours: bool) -> Steps:
    """Load a pipeline in steps, in a process that has not imported spaCy yet."""
    steps = Steps()
    import spacy

    steps.end("import spacy, which imports torch")
    if only_ours:
        leave_out_plugins()
    spacy.blank("en")
    steps.end("spaCy's plugins, a blank pipeline")
    from spacy_pel.index import EntityIndex
    from spacy_pel.kb import KnowledgeBase
    from spacy_pel.pipeline.proxy_entity_linker import ProxyEntityLinker

    steps.end("modules of the linker, Arrow, FAISS")
    meta = json.loads((pipeline / "meta.json").read_text(encoding="utf8"))
    nlp = spacy.util.load_model_from_config(spacy.util.load_config(pipeline / "config.cfg"), meta=meta)
    steps.end("components without data")
    nlp.from_disk(pipeline, exclude=nlp.pipe_names)
    steps.end("vocabulary, tokenizer")
    for name, part in nlp.pipeline:
        load: Any = getattr(part, "from_disk", None)
        if isinstance(part, ProxyEntityLinker):
            with ExitStack() as patches:
                for owner in (KnowledgeBase, part.encoder, EntityIndex):
                    if owner is not None:
                        what = getattr(owner, "__name__", type(owner).__name__)
                        step = steps.ending(owner.from_disk, f"{name}: {what}")
                        patches.enter_context(patch.object(owner, "from_disk", step))
                load(pipeline / name)
            steps.end(f"{name}: calibration")
        elif load is not None:
            load(pipeline / name, exclude=["vocab"])
            steps.end(name)
    nlp(TEXT)
    steps.end("the first document")
    if corpus is not None:
        from spacy_pel.corpora import read_corpus

        texts = [document.text for document in islice(read_corpus(corpus), n_documents)]
        list(nlp.pipe(texts))
        steps.end(f"{len(texts)} documents")
    return steps


def leave_out_plugins() -> None:
    """Let spaCy find no plugins but ours."""
    from importlib.metadata import EntryPoints, entry_points

    import catalogue

    found = entry_points()
    points = [point for group in found.groups for point in found.select(group=group)]
    catalogue.AVAILABLE_ENTRY_POINTS = EntryPoints(point for point in points if point.value.startswith(OURS))


def main(
    pipeline: Annotated[Path, typer.Argument(help="A saved pipeline with a linker.")],
    corpus: Annotated[Path | None, typer.Argument(help="Documents to link after the first one.")] = None,
    documents: Annotated[int, typer.Option(help="How many of them.")] = 20,
    repeats: Annotated[int, typer.Option(help="Number of processes, one after the other.")] = 3,
    only_ours: Annotated[bool, typer.Option("--only-ours", help="Leave out the plugins of others.")] = False,
    child: Annotated[bool, typer.Option("--child", hidden=True)] = False,
) -> None:
    """Print a table of the steps."""
    if child:
        steps = measure(pipeline, corpus, n_documents=documents, only_ours=only_ours)
        typer.echo(json.dumps(steps.done))
        return
    from spacy_pel.cli._output import text_table

    command = [sys.executable, __file__, str(pipeline), *([] if corpus is None else [str(corpus)]), "--child"]
    command += [f"--documents={documents}", *(["--only-ours"] if only_ours else [])]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    runs = []
    for _ in range(repeats):
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        if done.returncode:
            raise SystemExit(done.stderr.strip().splitlines()[-1])
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    rows, total = [], 0.0
    for name, *_ in runs[-1]:
        number = len(rows)
        seconds = min(run[number][1] for run in runs)
        total += seconds
        resident, own = runs[-1][number][2:]
        rows.append([name, f"{seconds:.2f}", f"{total:.2f}", f"{resident:,.0f}", f"{own:,.0f}"])
    typer.echo(text_table(["step", "CPU s", "total", "resident MB", "not of files"], rows))


if __name__ == "__main__":
    typer.run(main)

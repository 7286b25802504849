"""Measure a pipeline on all annotated corpora of a folder, beside its peers.

    python -m benchmarks.everywhere assets/pel_medmentions --data corpus --documents 60

The corpora are those of ``CORPORA`` that the folder has, or any of its .jsonl files by name. CRAFT is made of
``craft_texts.jsonl`` and ``craft_concepts.tsv``, where they are: mentions whose id is a cross reference of exactly
one entity. The gold mentions are linked. What was measured is kept in the output folder and used again as long as
pipeline, code, training text and corpus are the same. A corpus with documents of the training text is marked "*",
and left out of the mean.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import spacy_pel
from benchmarks.linkers import OURS, of_ours, of_peers
from benchmarks.peers import NearestName, Peer, Peers, run_peer
from benchmarks.zero_shot import DEFAULT, NEAREST, UNTRAINED, build, untrained_encoder
from spacy_pel.errors import PelError
from spacy_pel.training.corpora.craft_corpus import CraftCorpus, Part
from spacy_pel.types import Document
from spacy_pel.util import fingerprint, machine_note, read_json, write_json

CRAFT = "craft"
CORPORA = ("st21pv_dev", "st21pv_test", "bc5cdr_test_cui", "ncbi_test_cui", CRAFT, "sentences", "posts", "notes")
SURE = (80, 90)  # percent
RECALLS = ("recall@1", "recall@1 unseen")
COLUMNS = {  # title -> how a cell is written, and of what
    "recall@1 / unseen": ("{} / {}", RECALLS),
    "accuracy with NIL": ("{}", ("accuracy",)),
    "links: P(right), right (ECE)": ("{}, {} ({})", ("links_said", "links_right", "links_ece")),
    "NILs: P(right), right (ECE)": ("{}, {} ({})", ("nils_said", "nils_right", "nils_ece")),
    **{f"links, P ≥ .{p // 10}: right (of all)": ("{} ({})", (f"precision@{p}", f"coverage@{p}")) for p in SURE},
}
NOTE = (
    "In percent. Unseen: entities that the training text lacks. P(right): the mean of what the pipeline says; right: "
    "the share that is. NILs: of corpora that have any. Of all: share of all mentions. Peers: recall@1 / unseen. The "
    "mean leaves out corpora with documents of the training text (*)."
)
Measured = dict[str, float | None]


class Bench:
    """A pipeline and its peers, opened once.

    Args:
        pipeline: its folder.
        train: annotated text, for the prior and for what is unseen.
        output: folder for predictions, and for what is built.
        untrained: weights of the untrained encoder.
    """

    def __init__(self, pipeline: Path, train: Path, output: Path, untrained: str) -> None:
        from spacy_pel.corpora import read_corpus
        from spacy_pel.evaluation import seen_in_corpus
        from spacy_pel.pipeline.saved import load_pipeline

        self._loaded, self._output = load_pipeline(pipeline), output
        self.kb = self._loaded.component.linker.kb
        documents = list(read_corpus(train))
        self._texts = {document.text for document in documents}
        self._is_seen = seen_in_corpus(self.kb, documents)
        self._peers = Peers(self.kb, documents, key=fingerprint(train), cache=output / "peers")
        self._more: dict[str, Peer] = {}
        if is_there(untrained):
            linker = self._loaded.component.linker
            made_of = fingerprint(self.kb.fingerprint, linker.fingerprints.get("encoder"), untrained)
            folder = output / "untrained" / made_of
            encoder, kb = untrained_encoder(pipeline, untrained, folder), pipeline / self._loaded.name / "kb"
            self._more[NEAREST] = NearestName(build(kb, encoder, pipeline, folder))

    def measure(self, name: str, documents: Sequence[Document], key: str) -> dict[str, Any]:
        """Link the gold mentions of a corpus with all linkers.

        Args:
            name: of the corpus.
            documents: of it.
            key: fingerprint of them.

        Returns:
            "n", "n_unseen", "in_training" (documents) and, by linker, what is measured.
        """
        ours = of_ours(self._loaded, documents, self._is_seen, self._output / "predictions" / name, key)
        runs = self._peers.run(documents, key)
        runs.update({peer: run_peer(found, documents) for peer, found in self._more.items()})
        peers = of_peers(self.kb, documents, runs, self._is_seen)
        linkers = {OURS: measured(ours[1]), **{peer: measured(outcomes, RECALLS) for peer, (_, outcomes) in peers}}
        return {
            "n": ours[0]["n"],
            "n_unseen": ours[0]["n_unseen"],
            "in_training": sum(document.text in self._texts for document in documents),
            "linkers": linkers,
        }


def measured(outcomes: Any, chosen: Sequence[str] | None = None) -> Measured:
    """What ``COLUMNS`` shows, between 0 and 1; None = there is no such mention. chosen: these alone."""
    from spacy_pel.evaluation.metrics.probabilities import reliability_metrics

    in_kb, first, said = ~outcomes.is_nil, outcomes.rank == 1, outcomes.probability
    found: Measured = {
        "recall@1": _mean(first[in_kb]),
        "recall@1 unseen": _mean(first[in_kb & ~outcomes.seen]),
        "accuracy": _mean(outcomes.correct),
    }
    has_answer = ~np.isnan(said)
    links = has_answer & ~outcomes.called_nil
    # without a NIL mention in the corpus, all NILs are wrong, whatever the text
    nils = has_answer & outcomes.called_nil & outcomes.is_nil.any()
    for kind, rows in (("links", links), ("nils", nils)):
        found[f"{kind}_said"], found[f"{kind}_right"] = _mean(said[rows]), _mean(outcomes.correct[rows])
        found[f"{kind}_ece"] = reliability_metrics(said[rows], outcomes.correct[rows])["nil_ece"]
    for percent in SURE:
        sure = links & (np.nan_to_num(said) >= percent / 100)
        found[f"precision@{percent}"] = _mean(outcomes.correct[sure])
        found[f"coverage@{percent}"] = _mean(sure) if has_answer.any() else None
    return {key: found[key] for key in chosen or found}


def _mean(values: Any) -> float | None:
    return float(np.mean(values)) if len(values) else None


def is_there(weights: str) -> bool:
    """Whether the weights can be loaded: no download is started for a table."""
    kind, _, name = weights.partition(":")
    return find_spec(name) is not None if kind == "package" else Path(weights).is_dir()


def files_of(data: Path, names: Sequence[str] | None) -> dict[str, list[Path]]:
    """The files of each corpus.

    Args:
        data: their folder.
        names: of the corpora; None = those of ``CORPORA`` that are there.

    Returns:
        By name.

    Raises:
        PelError: if one is missing, or there is none.
    """
    found: dict[str, list[Path]] = {}
    for name in names or CORPORA:
        parts = ("craft_texts.jsonl", "craft_concepts.tsv") if name == CRAFT else (f"{name}.jsonl",)
        paths = [next((p for p in (data / part, data / f"{part}.gz") if p.is_file()), None) for part in parts]
        there = [path for path in paths if path is not None]
        if len(there) == len(parts):
            found[name] = there
        elif names:
            raise PelError(f"Expected {' and '.join(parts)} in {data}, got none. Name files of this folder.")
    if not found:
        raise PelError(f"Expected one of {', '.join(CORPORA)} in {data}, got none. Name files with --corpus.")
    return found


def read(kb: Any, files: Sequence[Path], n: int | None, part: Part = "test") -> list[Document]:
    """The first n documents of a corpus; of CRAFT, of this part."""
    from spacy_pel.corpora import read_corpus

    return list(islice(read_corpus(files[0]) if len(files) == 1 else _craft(kb, files, part), n))


def _craft(kb: Any, files: Sequence[Path], part: Part) -> Iterator[Document]:
    for document in CraftCorpus(part=part, strict=False).read(files):
        ids = [{found for code in mention.ids for found in kb.ids_of_xref(code)} for mention in document.mentions]
        document.mentions = [
            replace(mention, ids=tuple(found))
            for mention, found in zip(document.mentions, ids, strict=True)
            if len(found) == 1
        ]
        if document.mentions:
            yield document


def fingerprint_of(pipeline: Path) -> str:
    """Of its files and of the code that links and measures."""
    folders = (pipeline, Path(spacy_pel.__file__).parent, Path(__file__).parent / "peers")
    found = (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file())
    files = [path for path in found if path.suffix != ".pyc"] + [Path(__file__)]
    return fingerprint(*(part for path in files for part in (path.name, path)))


def with_mean(corpora: Mapping[str, Any]) -> dict[str, Any]:
    """The mean over corpora without documents of the training text, shaped like one of them."""
    kept = [found for found in corpora.values() if not found["in_training"]] or list(corpora.values())
    linkers: dict[str, Measured] = {}
    for name, first in kept[0]["linkers"].items():
        columns = {key: [one["linkers"][name][key] for one in kept] for key in first}
        linkers[name] = {key: _mean([v for v in values if v is not None]) for key, values in columns.items()}
    counts = {key: sum(found[key] for found in kept) for key in ("n", "n_unseen")}
    return {**counts, "in_training": 0, "linkers": linkers}


def table_of(corpora: Mapping[str, Any], mean: Mapping[str, Any]) -> Table:
    """A row for each corpus, and the mean."""
    peers = [name for name in mean["linkers"] if name != OURS]
    table = Table(caption=NOTE)
    table.add_column("corpus", no_wrap=True)
    for title in ("n (unseen)", *COLUMNS, *peers):
        table.add_column(title, justify="right")
    for name, found in {**corpora, "mean": mean}.items():
        if found is mean:
            table.add_section()
        cells = [_cell(found["linkers"][OURS], *column) for column in COLUMNS.values()]
        cells += [_cell(found["linkers"][peer], "{} / {}", RECALLS) for peer in peers]
        table.add_row(f"{name}{'*' if found['in_training'] else ''}", f"{found['n']:,} ({found['n_unseen']:,})", *cells)
    return table


def _cell(found: Measured, written: str, keys: Sequence[str]) -> str:
    return written.format(*("–" if (value := found[key]) is None else f"{100 * value:.1f}" for key in keys))


def draw(corpora: Mapping[str, Any], path: Path) -> None:
    """Recall@1 of each linker, and of our links those at P >= .8: their precision over their coverage."""
    from spacy_pel.evaluation.figures import new_panels, save_figure

    figure, (left, right) = new_panels(2, width=10, height=4)
    names = list(corpora)
    for linker in next(iter(corpora.values()))["linkers"]:
        values = [100 * (found["linkers"][linker]["recall@1"] or 0) for found in corpora.values()]
        left.plot(values, range(len(names)), marker="o", linestyle="", label=linker)
    left.set_yticks(range(len(names)), names)
    left.set_ylim(len(names) + 3, -0.5)  # from above, with room for the legend
    left.set(xlabel="recall@1 (%)", title="Gold mentions in the knowledge base")
    for name in names:
        found = corpora[name]["linkers"][OURS]
        if found["precision@80"] is not None:
            at = 100 * found["coverage@80"], 100 * found["precision@80"]
            right.plot(*at, marker="o", color="#0072b2")
            right.annotate(name, at, xytext=(4, 4), textcoords="offset points", fontsize=8)
    right.set(xlabel="coverage (%)", ylabel="precision (%)", title=f"Links of {OURS} with P(right) ≥ .8")
    save_figure(figure, left, path)


def main(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder.")] = DEFAULT,
    data: Annotated[Path, typer.Option(help="The folder of corpora.")] = Path("corpus"),
    corpus: Annotated[
        list[str] | None, typer.Option(help=f"NAME of NAME.jsonl (repeatable). [default: of {', '.join(CORPORA)}]")
    ] = None,
    train: Annotated[str, typer.Option(help="The training text: NAME of NAME.jsonl.")] = "annotated",
    documents: Annotated[int | None, typer.Option(min=1, help="The first so many. [default: all]")] = None,
    output: Annotated[Path, typer.Option(help="Folder for what was measured.")] = Path("metrics/everywhere"),
    untrained: Annotated[str, typer.Option(help="Weights of an untrained encoder, used if there.")] = UNTRAINED,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print one table of all corpora; write it as JSON and as a figure."""
    corpora: dict[str, Any] = {}
    report: dict[str, Any] = {"machine": machine_note(), "documents": documents, "corpora": corpora}
    try:
        files, [learned] = files_of(data, corpus), files_of(data, [train])[train]
        made_with = fingerprint(fingerprint_of(pipeline), learned, is_there(untrained) and untrained)
        bench: Bench | None = None
        for name, paths in files.items():
            kept, key = output / "measured" / f"{name}.json", fingerprint(made_with, documents, *paths)
            found = read_json(kept) if kept.is_file() else {}
            if found.get("key") != key:
                bench = bench or Bench(pipeline, learned, output, untrained)
                found = bench.measure(name, read(bench.kb, paths, documents), fingerprint(documents, *paths))
                write_json(kept, {"key": key, **found})
            corpora[name] = found
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    report["mean"] = with_mean(corpora)
    write_json(output / "everywhere.json", report)
    draw(corpora, output / "everywhere.png")
    if as_json:
        typer.echo(json.dumps(report))
        return
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 220)
    console.print(table_of(corpora, report["mean"]))
    if not is_there(untrained):
        console.print(f"Without an untrained encoder: {untrained} is not installed.", soft_wrap=True)
    console.print(report["machine"], soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)

"""Compare linkers: ours, scispaCy's, and the plain frequency prior.

All get the same KB and mentions and are evaluated in the same way, in one run. Example:

    python -m benchmarks.linkers --pipeline training/pipeline --corpus corpus/st21pv_test.jsonl \
        --train corpus/annotated.jsonl --output metrics/linkers_st21pv

Several pipelines can take part, each under a name: --pipeline ours=FOLDER --pipeline untrained=FOLDER. The
second table has the differences between the first linker and each other one.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.peers import PEERS, Peer, PeerRun, Peers, frequency_prior, run_peer, scispacy_linker
from spacy_pel.errors import PelError
from spacy_pel.types import Document
from spacy_pel.util import fingerprint, write_json

OURS = "spacy_pel"
COLUMNS = ("recall@1", "recall@5", "recall@64", "accuracy_seen", "accuracy_unseen", "nil_aupr", "answer_ece")
TITLES = {"accuracy_seen": "recall@1 seen", "accuracy_unseen": "unseen", "answer_ece": "P(right) ECE"}
DIFFERENCES = ("recall@1", "recall@64", "recall@1 unseen")
DRAWS, SEED = 1000, 0  # of the paired bootstrap
Result = tuple[dict[str, Any], Any]  # metrics and outcomes


def main(
    corpus: Annotated[Path, typer.Option(help="The annotated test corpus (JSON lines).")],
    train: Annotated[Path, typer.Option(help="The training corpus: for the prior, and for seen and unseen entities.")],
    output: Annotated[Path, typer.Option(help="Folder for linkers.json and the figures.")],
    pipeline: Annotated[
        list[str] | None,
        typer.Option(
            help="A pipeline of ours as FOLDER or NAME=FOLDER (repeatable; all on one KB); without it the peers only."
        ),
    ] = None,
    kb: Annotated[Path | None, typer.Option(help="The KB folder, if there is no pipeline.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder to cache the answers of the peers.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare linkers on gold mentions."""
    try:
        pipelines = _named(pipeline or [])
        results = compare(corpus, train, output, pipelines=pipelines, kb_path=kb, cache=cache)
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    report = {
        "corpus": str(corpus),
        "linkers": {name: metrics for name, (metrics, _) in results.items()},
        "differences": differences(results),
        "notes": [scispacy_linker.NOTE, frequency_prior.NOTE],
    }
    write_json(output / "linkers.json", report)
    _plot(output, results)
    if as_json:
        typer.echo(json.dumps(report))
    else:
        _print_table(report)


def compare(
    corpus: Path,
    train: Path,
    output: Path,
    *,
    pipelines: Mapping[str, Path],
    kb_path: Path | None,
    cache: Path | None,
    more_peers: Mapping[str, Peer] | None = None,
) -> dict[str, Result]:
    """Evaluate all linkers.

    Args:
        pipelines: ours, by name; may be empty.
        more_peers: besides scispaCy and the frequency prior.

    Returns:
        Name -> metrics and outcomes; ours first.

    Raises:
        PelError: if an input is missing or damaged, or the pipelines have different KBs.
    """
    from spacy_pel.corpora import read_corpus
    from spacy_pel.evaluation import seen_in_corpus
    from spacy_pel.kb import KnowledgeBase

    documents, train_documents = list(read_corpus(corpus)), list(read_corpus(train))
    results: dict[str, Result] = {}
    kb: Any = None if kb_path is None else KnowledgeBase.from_disk(kb_path)
    is_seen: Any = None if kb is None else seen_in_corpus(kb, train_documents)
    for name, folder in pipelines.items():
        from spacy_pel.pipeline.saved import load_pipeline

        loaded = load_pipeline(folder)
        own = loaded.component.linker.kb
        if kb is None:
            kb, is_seen = own, seen_in_corpus(own, train_documents)
        elif own.fingerprint != kb.fingerprint:
            raise PelError(
                f"Expected all linkers to have the same KB, but that of {folder} is another one. "
                "Assemble it with the KB of the first."
            )
        results[name] = of_ours(loaded, documents, is_seen, output / name, fingerprint(Path(corpus)))
    if kb is None:
        raise PelError("Expected a pipeline or a KB, got neither. Add --pipeline or --kb.")
    peers = Peers(kb, train_documents, key=fingerprint(Path(train)), cache=cache)
    runs = peers.run(documents, fingerprint(Path(corpus)))
    runs.update({name: run_peer(peer, documents) for name, peer in (more_peers or {}).items()})
    results.update(of_peers(kb, documents, runs, is_seen))
    return results


def of_peers(
    kb: Any, documents: Sequence[Document], runs: Mapping[str, PeerRun], is_seen: Any
) -> Iterator[tuple[str, Result]]:
    """The name of each peer, its metrics and outcomes."""
    from spacy_pel.evaluation import Outcomes, compute_metrics

    for name, run in runs.items():
        outcomes = Outcomes.of(_predictions(kb, documents, run.answers, is_seen))
        metrics = compute_metrics(outcomes)
        # a peer without a threshold predicts no NIL, so these metrics do not apply to it
        decided = ("nil_precision", "nil_recall", "nil_f1", "accuracy", "accuracy_low", "accuracy_high")
        for absent in (*decided, *(key for key in metrics if key.startswith("recall_all@"))):
            metrics.pop(absent, None)
        yield name, ({**metrics, "mentions_per_second": run.per_second}, outcomes)


def differences(results: Mapping[str, Result]) -> dict[str, dict[str, dict[str, float]]]:
    """Paired differences between the first linker and each other one.

    Returns:
        Name of the other -> one of ``DIFFERENCES`` -> first - other, with its 95% interval from
        a bootstrap over documents.
    """
    from spacy_pel.evaluation.metrics.all_metrics import found_within
    from spacy_pel.evaluation.metrics.bootstrap import share_difference

    (_, (_, first)), *others = results.items()
    linkable = ~first.is_nil
    table: dict[str, dict[str, dict[str, float]]] = {}
    for name, (_, other) in others:
        table[name] = {}
        for key, k, counted in zip(DIFFERENCES, (1, 64, 1), (linkable, linkable, linkable & ~first.seen), strict=True):
            hits = (found_within(one.rank, k) for one in (other, first))
            rng = np.random.default_rng(SEED)
            found = share_difference(*hits, counted, first.document, n_samples=DRAWS, rng=rng)
            table[name][key] = {"difference": found.difference, "low": found.low, "high": found.high}
    return table


def _named(given: Sequence[str]) -> dict[str, Path]:
    pipelines: dict[str, Path] = {}
    for each in given:
        name, _, folder = each.partition("=")
        if not folder or "/" in name or Path(each).is_dir():  # a folder may have a "=" in its name
            name, folder = OURS, each
        if name in (*pipelines, *PEERS):
            raise PelError(
                f"Expected a name of its own for each pipeline, got '{name}' again. Name them: --pipeline NAME=FOLDER."
            )
        pipelines[name] = Path(folder)
    return pipelines


def of_ours(loaded: Any, documents: Sequence[Document], is_seen: Any, output: Path, corpus: str) -> Result:
    """Evaluate a pipeline of ours on gold mentions; corpus = its fingerprint."""
    from spacy_pel.evaluation import evaluate
    from spacy_pel.evaluation.outcomes import read_run
    from spacy_pel.pipeline.gold import query_maker

    metrics = evaluate(
        loaded.component.linker,
        documents,
        queries=query_maker(loaded.nlp, name=loaded.name),
        is_seen=is_seen,
        output=output,
        corpus_fingerprint=corpus,
        show_progress=True,
    )
    return metrics, read_run(output).outcomes


def _predictions(kb: Any, documents: Sequence[Document], answers: Sequence[Any], is_seen: Any) -> Any:
    from spacy_pel.evaluation import gold_prediction

    given = iter(answers)
    for document in documents:
        for mention in document.mentions:
            prediction = gold_prediction(kb, document, mention, is_seen)
            prediction.candidates, prediction.nil_score = next(given)
            prediction.kb_id = prediction.candidates[0][0] if prediction.candidates else ""
            yield prediction


def _plot(output: Path, results: dict[str, Result]) -> None:
    from spacy_pel.evaluation.figures import nil_figure, recall_figure, save_figure

    recall = recall_figure({name: metrics for name, (metrics, _) in results.items()})
    save_figure(*recall, output / "recall.png")
    nil = nil_figure({name: outcomes for name, (_, outcomes) in results.items()})
    save_figure(*nil, output / "nil.png")


def _print_table(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    first = next(iter(report["linkers"].values()))
    title = f"{report['corpus']}: {first['n']:,} mentions, {first['n_nil']:,} NIL (95% intervals)"
    table = Table(title=title)
    table.add_column("linker")
    for column in (*COLUMNS, "per second"):
        table.add_column(TITLES.get(column, column), justify="right")
    for name, metrics in report["linkers"].items():
        cells = [_cell(metrics, column) for column in COLUMNS]
        table.add_row(name, *cells, f"{metrics['mentions_per_second']:,.0f}")
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 200)
    console.print(table)
    if report["differences"]:
        console.print(_differences_table(next(iter(report["linkers"])), report["differences"]))
    for note in report["notes"]:
        console.print(note, style="dim", soft_wrap=True)


def _differences_table(first: str, found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Any:
    from rich.table import Table

    table = Table(title=f"{first} minus each other linker, in points (95% intervals, paired)")
    table.add_column("linker")
    for column in DIFFERENCES:
        table.add_column(column, justify="right")
    for name, by_metric in found.items():
        points = [{key: 100 * value for key, value in by_metric[column].items()} for column in DIFFERENCES]
        table.add_row(name, *("{difference:+.1f} [{low:+.1f}, {high:+.1f}]".format(**one) for one in points))
    return table


def _cell(metrics: dict[str, Any], key: str) -> str:
    if metrics.get(key) is None:
        return "–"
    value = f"{100 * metrics[key]:.1f}"
    if f"{key}_low" not in metrics:
        return value
    return f"{value} [{100 * metrics[f'{key}_low']:.1f}, {100 * metrics[f'{key}_high']:.1f}]"


if __name__ == "__main__":
    typer.run(main)

"""What corrections bring: accuracy on new text over the number of corrections, and their cost on old text.

    spacy-pel quickstart KB zero_shot --ner assets/pel_medmentions
    python -m benchmarks.teach zero_shot corpus/bc5cdr_dev.jsonl --old ncbi.jsonl --output metrics/teach

The documents are shuffled and cut into halves. The pipeline links the first half; of the mentions it gets
wrong, the first n are corrected (``linker.learn``), and the second half is linked, and the old test set.
Nothing is trained. Mentions whose entity the knowledge base lacks are NIL. Differences are paired: both
linkers on the same mentions, 95% bootstrap intervals over documents. Mentions are encoded once.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

COUNTS = (0, 50, 200, 1000)
HEAD = (
    *("corrections", "accuracy, %", "gain, points", "recall@1, %", "NIL F1, %", "ECE of P(NIL), %"),
    *("decided by memory, %", "right of these, %", "learn, s", "old accuracy, %", "old gain, points"),
)
_SAMPLES = 1000  # of the bootstrap


class Mentions(NamedTuple):
    """Gold mentions of documents.

    Attributes:
        queries: with their vectors.
        documents: (n,), the number of the document of each.
        doc_ids: (n,), its id.
        gold: ids in the knowledge base; empty = NIL.
    """

    queries: list[Any]
    documents: Any
    doc_ids: list[str]
    gold: list[tuple[str, ...]]


def read_mentions(linker: Any, documents: Sequence[Any]) -> Mentions:
    """The gold mentions of documents; those with several ids that are all meant are left out.

    Args:
        linker: has the knowledge base.
        documents: annotated.

    Returns:
        In the order of the documents.
    """
    from spacy_pel.linking import MentionQuery

    pairs = [(n, one, m) for n, one in enumerate(documents) for m in one.mentions if not m.composite]
    queries = [MentionQuery(one.text, m.start, m.end, m.label) for _, one, m in pairs]
    gold = []
    for _, _, mention in pairs:
        live = [linker.kb.resolve(one) for one in mention.ids]
        gold.append(tuple(dict.fromkeys(one for one in live if one is not None)))
    return Mentions(queries, np.array([n for n, _, _ in pairs]), [one.id for _, one, _ in pairs], gold)


class Result(NamedTuple):
    """Of linking mentions once.

    Attributes:
        hits: (n,), right, NIL included.
        first: (n,), the first candidate is right.
        links: the answers.
    """

    hits: Any
    first: Any
    links: list[Any]


def link(linker: Any, mentions: Mentions) -> Result:
    """Of the linker as it is."""
    from spacy_pel.types import NIL

    links = linker.link(mentions.queries)
    pairs = list(zip(links, mentions.gold, strict=True))
    hits = [one.kb_id in gold if gold else one.kb_id == NIL for one, gold in pairs]
    first = [bool(one.ids) and one.ids[0] in gold for one, gold in pairs]
    return Result(np.array(hits), np.array(first), links)


def measure(result: Result, before: Result, mentions: Mentions, seed: int) -> dict[str, Any]:
    """Metrics, and the paired difference to ``before``."""
    from spacy_pel.evaluation.metrics.bootstrap import share_difference
    from spacy_pel.evaluation.metrics.probabilities import reliability_metrics

    rng = np.random.default_rng(seed)
    everything = np.ones(len(result.hits), dtype=np.bool_)
    difference = share_difference(before.hits, result.hits, everything, mentions.documents, n_samples=_SAMPLES, rng=rng)
    is_nil = np.array([not gold for gold in mentions.gold])
    says_nil = np.array([one.kb_id == "NIL" for one in result.links])
    decided = np.array([one.learned is not None for one in result.links])
    both, either = int((is_nil & says_nil).sum()), int(is_nil.sum() + says_nil.sum())
    nil_scores = np.array([one.nil_score for one in result.links])
    probability = np.array([one.probability for one in result.links])
    return {
        "n": len(result.hits),
        "n_nil": int(is_nil.sum()),
        "accuracy": float(result.hits.mean()),
        "gain": difference.difference,
        "gain_low": difference.low,
        "gain_high": difference.high,
        "recall@1": float(result.first[~is_nil].mean()),
        "nil_f1": 2 * both / either if either else None,
        "nil_ece": reliability_metrics(nil_scores, is_nil)["nil_ece"],
        "decided": float(decided.mean()),
        "decided_right": float(result.hits[decided].mean()) if decided.any() else None,
        "decided_nil_right": _share(result.hits, decided & says_nil),
        "undecided_nil_ece": reliability_metrics(nil_scores[~decided], is_nil[~decided])["nil_ece"],
        "answer_ece": reliability_metrics(probability, result.hits)["nil_ece"],
    }


def _share(hits: Any, chosen: Any) -> float | None:
    return float(hits[chosen].mean()) if chosen.any() else None


def corrections_of(result: Result, mentions: Mentions) -> tuple[list[int], list[Any]]:
    """Wrong mentions, in order, and their right answers."""
    from spacy_pel.linking import Correction
    from spacy_pel.types import NIL

    wrong = np.flatnonzero(~result.hits).tolist()
    made = []
    for number in wrong:
        query = mentions.queries[number]
        answer = mentions.gold[number][0] if mentions.gold[number] else NIL
        made.append(Correction(query.text, query.start, query.end, answer, query.label, mentions.doc_ids[number]))
    return wrong, made


def run(
    linker: Any, taught: Mentions, tests: dict[str, Mentions], counts: Sequence[int], seed: int
) -> list[dict[str, Any]]:
    """Teach n corrections, link all tests, undo; for each n.

    Args:
        linker: is as before afterwards.
        taught: where mistakes are corrected.
        tests: name -> mentions to link.
        counts: the n; the first is 0.

    Returns:
        A row for each n that there are enough mistakes for.
    """
    wrong, made = corrections_of(link(linker, taught), taught)
    before = {name: link(linker, mentions) for name, mentions in tests.items()}
    rows = []
    for n in sorted({min(n, len(made)) for n in counts}):
        started = time.perf_counter()
        learned = linker.learn([taught.queries[i] for i in wrong[:n]], made[:n], by="benchmark") if n else []
        seconds = time.perf_counter() - started
        row: dict[str, Any] = {"corrections": n, "learned": len(learned), "seconds": seconds}
        for name, mentions in tests.items():
            row[name] = measure(link(linker, mentions), before[name], mentions, seed)
        rows.append(row)
        linker.unlearn([one.id for one in learned])
    return rows


def plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw accuracy over the number of corrections, with the intervals of the gain."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, title in (("test", "second half"), ("old", "old test set")):
        if name not in rows[0]:
            continue
        found = [row[name] for row in rows]
        values = np.array([100 * one["accuracy"] for one in found])
        errors = 100 * np.array([[one["gain"] - one["gain_low"], one["gain_high"] - one["gain"]] for one in found])
        errors = np.maximum(errors, 0.0)  # where no draw differs, rounding may put the gain outside
        axes.errorbar([row["corrections"] for row in rows], values, yerr=errors.T, marker="o", capsize=3, label=title)
    axes.set_xscale("symlog", linthresh=50)
    axes.set_xticks([row["corrections"] for row in rows], [f"{row['corrections']:,}" for row in rows])
    axes.minorticks_off()
    axes.set_xlabel("corrected mentions")
    axes.set_ylabel("accuracy, %")
    axes.grid(alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def show(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """Print the table."""
    table = Table(*HEAD)
    for row in rows:
        test, old = row["test"], row.get("old")
        cells = [f"{row['corrections']:,}", _percent(test["accuracy"]), _gain(test), _percent(test["recall@1"])]
        cells += [_percent(test[key]) for key in ("nil_f1", "nil_ece", "decided", "decided_right")]
        cells += [f"{row['seconds']:.1f}"]
        cells += [_percent(old["accuracy"]), _gain(old)] if old else ["–", "–"]
        table.add_row(*cells)
    console.print(table)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _gain(found: dict[str, Any]) -> str:
    return f"{100 * found['gain']:+.1f} [{100 * found['gain_low']:+.1f}, {100 * found['gain_high']:+.1f}]"


def main(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder; it is not changed.")],
    corpus: Annotated[Path, typer.Argument(help="Annotated corpus (JSON lines), cut into halves.")],
    old: Annotated[Path | None, typer.Option(help="Another annotated corpus, which is only linked.")] = None,
    test: Annotated[
        Path | None, typer.Option(help="Link this corpus instead of the second half, and correct all of CORPUS.")
    ] = None,
    documents: Annotated[int, typer.Option(min=0, help="Number of documents of each corpus; 0 = all.")] = 0,
    counts: Annotated[str, typer.Option(help="Numbers of corrections, separated by commas.")] = "0,50,200,1000",
    seed: Annotated[int, typer.Option(help="Random seed of the halves and of the bootstrap.")] = 0,
    output: Annotated[Path | None, typer.Option(help="Folder for teach.json and teach.png.")] = None,
) -> None:
    """Print accuracy over the number of corrections."""
    from spacy_pel.corpora import read_corpus
    from spacy_pel.pipeline.saved import load_pipeline
    from spacy_pel.util import machine_note, write_json

    linker = load_pipeline(pipeline).component.linker

    def chosen(path: Path) -> list[Any]:
        read = list(read_corpus(path))
        order = np.random.default_rng(seed).permutation(len(read))
        return [read[i] for i in order[: documents or None].tolist()]

    read = chosen(corpus)
    half = len(read) if test else len(read) // 2
    taught = read_mentions(linker, read[:half])
    tests = {"test": read_mentions(linker, chosen(test) if test else read[half:])}
    if old is not None:
        tests["old"] = read_mentions(linker, chosen(old))
    rows = run(linker, taught, tests, [int(n) for n in counts.split(",")], seed)
    show(rows, Console(width=200))
    facts = {"entities": len(linker.kb), "taught": len(taught.queries), "machine": machine_note(), "seed": seed}
    typer.echo(json.dumps(facts))
    if output is not None:
        write_json(output / "teach.json", {**facts, "rows": rows})
        plot(rows, output / "teach.png")


if __name__ == "__main__":
    typer.run(main)

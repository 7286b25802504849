"""The commands ``evaluate`` and ``estimate``: the accuracy of a pipeline on an annotated corpus, and the one to expect
on text that nobody annotated."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ..errors import Errors, PelError
from ..types import NIL
from ..util.console import percent
from ._app import pel_cli
from ._options import Corpus, IdColumn, InputFormat, Pipeline, Seed, TextColumn, argument, flag, option
from ._output import emit, key_values, message, text_table

_NO_SHARES = {"seconds", "mentions_per_second", "threshold", "nil_share", "set_size"}


@pel_cli.command("evaluate", rich_help_panel="Evaluate")
def evaluate(
    pipeline: Pipeline,
    corpus: Corpus,
    output: Annotated[Path, option("FOLDER", "Folder for metrics.json, predictions.jsonl and the plots.")],
    end_to_end: Annotated[bool, flag("--end-to-end", "Let the pipeline find the mentions, too.")] = False,
    top_k: Annotated[int | None, option("N", "Candidates. [default: 64, or the pipeline's]", min=1, max=10**5)] = None,
    seed: Seed = 0,
) -> None:
    """Evaluate a pipeline on gold mentions, or end to end.

    Example: spacy-pel evaluate training/pipeline corpus/test.jsonl --output metrics/test
    """
    from ..corpora import read_gold
    from ..evaluation import evaluate as evaluate_linker
    from ..evaluation import evaluate_end_to_end
    from ..evaluation.figures import plot_run
    from ..evaluation.outcomes import read_run
    from ..pipeline.gold import query_maker
    from ..pipeline.mentions import mention_spans
    from ..pipeline.saved import load_pipeline
    from ..util import fingerprint

    nlp, name, component = load_pipeline(pipeline)
    documents, queries = list(read_gold(corpus)), query_maker(nlp, name=name)  # offsets are checked before linking
    common: Any = {"output": output, "seed": seed, "corpus_fingerprint": fingerprint(corpus), "show_progress": True}
    if end_to_end:
        component.top_k = top_k or component.top_k
        spans, prefix = partial(mention_spans, spans_key=component.spans_key), component.extension_prefix
        metrics = evaluate_end_to_end(nlp, component.linker, documents, spans=spans, extension_prefix=prefix, **common)
    else:
        metrics = evaluate_linker(component.linker, documents, queries=queries, top_k=top_k or 64, **common)
    plot_run(read_run(output))
    message(f"Wrote {output}")
    emit(metrics, _text)


def _text(metrics: dict[str, Any]) -> str:
    """The metrics with their intervals in percent."""
    head = f"{metrics['n']:,} mentions in {metrics['n_documents']:,} documents, {metrics['n_nil']:,} NIL"
    shares = {}
    for key, value in metrics.items():
        if isinstance(value, float) and not key.endswith(("_low", "_high")) and key not in _NO_SHARES:
            ends = [metrics[f"{key}{end}"] for end in ("_low", "_high") if f"{key}{end}" in metrics]
            shares[key] = percent(value) + (f"  [{', '.join(map(percent, ends))}]" if ends else "")
    columns = ("n", "accuracy", "recall@1", "coverage@95", "coverage@98")
    groups = [group for kind in metrics["mention_groups"].values() for group in kind.items()]
    lines = [head, key_values(shares), group_table("mentions of", groups, columns)]
    if types := metrics.get("mention_types"):
        columns = ("n_gold", "n_found", "typed_precision", "typed_recall", "typed_f1")
        lines.append(group_table("label", types.items(), columns))
    return "\n".join([*lines, f"{metrics['mentions_per_second']:,.0f} mentions/s, {metrics['seconds']:,.1f} s"])


def group_table(title: str, groups: Iterable[tuple[str, dict[str, Any]]], columns: Sequence[str]) -> str:
    """A row for each group; numbers of mentions as they are, shares in percent."""
    cells = [(name, [group.get(column) for column in columns]) for name, group in groups]
    rows = [[name, *(f"{cell:,}" if isinstance(cell, int) else percent(cell) for cell in row)] for name, row in cells]
    return text_table([title, *columns], rows)


@pel_cli.command("estimate", rich_help_panel="Evaluate")
def estimate(
    pipeline: Pipeline,
    texts: Annotated[Path, argument("TEXTS", "Text without annotation, in any format that `link` reads.")],
    format_name: InputFormat = "auto",
    text_column: TextColumn = None,
    id_column: IdColumn = None,
) -> None:
    """Estimate the accuracy of a pipeline on text without annotation, from P(right) of its answers.

    It counts the mentions that the pipeline finds, not those that it misses. The estimate is as good as P(right) is on
    this kind of text: `evaluate` on annotated text shows by its answer_ece how far that is off.

    Example: spacy-pel estimate training/pipeline notes.txt
    """
    from ..corpora.document_stream import process_documents
    from ..engines.corpus import Columns, Corpus
    from ..evaluation.metrics.groups import NO_NAME
    from ..pipeline.mentions import document_record
    from ..pipeline.saved import load_pipeline

    corpus = Corpus(texts, format_name, Columns(text_column, id_column))
    nlp, _, component = load_pipeline(pipeline)
    if not component.linker.decider.confidence.is_fitted:
        why = "P(right) of this pipeline is not calibrated, so the estimate is rough"
        message(f"{why}. Fit it with: spacy-pel calibrate")
    mentions: list[dict[str, Any]] = []
    n_documents = n_left_out = 0
    for processed in process_documents(nlp, corpus, batch_size=nlp.batch_size):
        n_documents += 1
        n_left_out += bool(processed.error)
        found = document_record(component, processed, 0).get("mentions", ())
        mentions += (mention for mention in found if mention["probability"] is not None)  # of another component
    if not mentions:
        raise PelError(Errors.E663.format(path=texts))
    by_label: dict[str, list[dict[str, Any]]] = {}
    for mention in mentions:
        by_label.setdefault(mention["label"] or NO_NAME, []).append(mention)
    labels = {name: _expected(group) for name, group in sorted(by_label.items(), key=lambda item: -len(item[1]))}
    result = {"n_documents": n_documents, "n_left_out": n_left_out, **_expected(mentions), "labels": labels}
    emit(result, _expected_text)


def _expected(mentions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    from ..evaluation.metrics.probabilities import RankedAnswers, coverages

    probability = np.array([mention["probability"] for mention in mentions])
    expected = coverages(RankedAnswers(probability, probability))
    return {
        "n": len(mentions),
        "expected_accuracy": float(probability.mean()),
        **{f"expected_{key}": value for key, value in expected.items()},
        "nil_share": float(np.mean([mention["kb_id"] == NIL for mention in mentions])),
    }


def _expected_text(result: dict[str, Any]) -> str:
    counts = {"documents": result["n_documents"], "left out": result["n_left_out"]}
    columns = ("n", "expected_accuracy", "expected_coverage@95", "expected_coverage@98", "nil_share")
    table = group_table("mentions of", [("all", result), *result["labels"].items()], columns)
    todo = "To see how far such an estimate is off on your text, annotate some of it and run `evaluate`: answer_ece."
    return "\n\n".join([key_values(counts), table, todo])

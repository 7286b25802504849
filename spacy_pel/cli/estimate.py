"""The command ``estimate``: what accuracy to expect on text that nobody annotated."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ..errors import Errors, PelError
from ..types import NIL
from ._app import pel_cli
from ._options import Files, IdColumn, InputFormat, Pipeline, TextColumn, argument, option
from ._output import JSON, emit, key_values, message, text_table

_NO_LABEL = "–"


@pel_cli.command("estimate", rich_help_panel="Evaluate")
def estimate(
    pipeline: Pipeline,
    texts: Annotated[Path, argument("TEXTS", "Text without annotation, in any format that `link` reads.")],
    format_name: InputFormat = "auto",
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    check: Annotated[
        Files, option("CORPUS", "Annotated corpus on which to check such an estimate (repeatable).")
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Estimate the accuracy of a pipeline on text without annotation, from P(right) of its answers.

    It counts the mentions that the pipeline finds, not those that it misses. The estimate is as good as P(right) is on
    this kind of text: --check shows how far it is off where the answers are known.

    Example: spacy-pel estimate training/pipeline notes.txt --check corpus/annotated_notes.jsonl
    """
    from ..corpora.document_stream import process_documents
    from ..engines.corpus import Columns, Corpus
    from ..pipeline.mentions import mention_spans
    from ..pipeline.records import mention_record
    from ..pipeline.saved import load_pipeline

    corpus = Corpus(texts, format_name, Columns(text_column, id_column))
    nlp, _, component = loaded = load_pipeline(pipeline)
    linker = component.linker
    if not linker.decider.confidence.is_fitted:
        message(
            "P(right) of this pipeline is not calibrated, so the estimate is rough. Fit it with: spacy-pel calibrate"
        )
    found: list[tuple[float, bool, str]] = []
    n_documents = n_left_out = 0
    for _, pieces, error in process_documents(nlp, corpus, batch_size=nlp.batch_size):
        n_documents += 1
        n_left_out += bool(error)
        spans = (span for _, doc in pieces for span in mention_spans(doc, component.spans_key))
        records = (mention_record(component, span, 0) for span in spans)
        found += (
            (one["probability"], one["kb_id"] == NIL, one["label"] or _NO_LABEL)
            for one in records
            if one["probability"] is not None  # an id that another component set has none
        )
    if not found:
        raise PelError(Errors.E663.format(path=texts))
    probability, is_nil, label = (np.array(column) for column in zip(*found, strict=True))
    result: dict[str, Any] = {"n_documents": n_documents, "n_left_out": n_left_out}
    result.update(_expected(probability, is_nil))
    by_label = {one: _expected(probability[label == one], is_nil[label == one]) for one in np.unique(label).tolist()}
    result["labels"] = dict(sorted(by_label.items(), key=lambda item: -item[1]["n"]))
    result["checks"] = {str(corpus): _check(loaded, corpus) for corpus in check or []}
    emit(result, as_json=as_json, text=_text)


def _expected(probability: Any, is_nil: Any) -> dict[str, Any]:
    from ..evaluation.metrics.probabilities import RankedAnswers, coverages

    expected = coverages(RankedAnswers(probability, probability))
    return {
        "n": len(probability),
        "expected_accuracy": float(probability.mean()),
        **{f"expected_{key}": value for key, value in expected.items()},
        "nil_share": float(is_nil.mean()),
    }


def _check(loaded: Any, corpus: Path) -> dict[str, Any]:
    """Estimate and truth of the annotated mentions of a corpus."""
    from ..evaluation.metrics.bootstrap import share_interval
    from ..evaluation.metrics.probabilities import RankedAnswers, coverages
    from ..evaluation.predict import link_outcomes
    from ._saved_pipeline import read_gold_mentions

    documents, queries = read_gold_mentions(loaded.nlp, loaded.name, corpus)
    linker = loaded.component.linker
    outcomes = link_outcomes(linker.kb, documents, linker.link(queries))
    error = np.bincount(outcomes.document, outcomes.probability - outcomes.correct).astype(np.float64)
    counts = np.bincount(outcomes.document).astype(np.float64)
    low, high = share_interval(error, counts, n_samples=1000, rng=np.random.default_rng(0))
    return {
        **_expected(outcomes.probability, outcomes.called_nil),
        "accuracy": float(outcomes.correct.mean()),
        **coverages(RankedAnswers(outcomes.probability, outcomes.correct)),
        "error": float(error.sum() / counts.sum()),
        "error_low": low,
        "error_high": high,
    }


def _text(result: dict[str, Any]) -> str:
    columns = {"expected_accuracy": "accuracy", "expected_coverage@95": "kept at 95%", "expected_coverage@98": "at 98%"}
    columns |= {"nil_share": "NIL"}
    groups = {"all": result, **result["labels"]}
    rows = [[name, f"{one['n']:,}", *(f"{100 * one[key]:.1f}" for key in columns)] for name, one in groups.items()]
    counts = {"documents": result["n_documents"], "left out": result["n_left_out"]}
    parts = [key_values(counts), text_table(["expected (%)", "mentions", *columns.values()], rows)]
    if not result["checks"]:
        return "\n\n".join([*parts, _UNCHECKED])
    rows = []
    for corpus, one in result["checks"].items():
        interval = f"[{100 * one['error_low']:+.1f}, {100 * one['error_high']:+.1f}]"
        cells = [f"{100 * one[key]:.1f}" for key in ("expected_accuracy", "accuracy")]
        cells += [f"{100 * one['error']:+.1f}", interval]
        cells += [f"{100 * one[key]:.1f}" for key in ("expected_coverage@95", "coverage@95")]
        rows.append([corpus, f"{one['n']:,}", *cells])
    header = ["check", "mentions", "expected", "accuracy", "off by", "95%", "kept at 95%", "truly"]
    worst = max(abs(one["error"]) for one in result["checks"].values())
    where = "the annotated corpus" if len(rows) == 1 else f"the {len(rows)} annotated corpora"
    return "\n\n".join(
        [*parts, text_table(header, rows), f"On {where}, the estimate is off by up to {100 * worst:.1f} points."]
    )


_UNCHECKED = (
    "How far such an estimate is off was not measured on this text. For the default pipeline it was measured on other "
    "corpora, see MODEL_CARD.md; for yours, give annotated text with --check."
)

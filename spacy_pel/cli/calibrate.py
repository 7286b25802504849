"""The command ``calibrate``: fit the combiner, the NIL model and the threshold."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from ..errors import Errors, PelError
from ..util.log import without_warnings
from ._app import pel_cli
from ._options import Files, Pipeline, Texts, argument, option
from ._output import JSON, emit, key_values, message, percent

_FEW = 30  # NIL mentions


@pel_cli.command("calibrate", rich_help_panel="Train")
def calibrate(
    pipeline: Pipeline,
    corpus: Annotated[Path, argument("CORPUS.jsonl", "Development corpus (JSON lines), with NIL mentions.")],
    apply_to: Annotated[Files, option("PIPELINE", "Store it here, e.g. where the KB is whole (repeatable).")] = None,
    fold: Annotated[Texts, option("PIPELINE=CORPUS", "A pipeline built without a fold, for P(NIL).")] = None,
    output: Annotated[Path | None, option("FOLDER", "Write a calibrated copy here; PIPELINE is not changed.")] = None,
    precision: Annotated[
        float | None,
        option("NUMBER", "Use the lowest threshold with this NIL precision, not the best F1.", min=0.0, max=1.0),
    ] = None,
    by_label: Annotated[int | None, option("N", "A threshold per NER label with N NIL and N others.", min=1)] = None,
    as_json: bool = JSON,
) -> None:
    """Fit the evidence weights, P(NIL), the NIL threshold (best F1) and P(right).

    P(NIL) is the probability that a mention is NIL, P(right) the probability that an answer is correct. All are
    stored in the pipeline.

    The printed metrics are those on CORPUS, which was used for fitting. Expect lower ones on unseen text.

    Example: spacy-pel calibrate training/pipeline corpus/dev.jsonl --precision 0.9
    """
    from ..linking.calibration import collect, fit
    from ..linking.nil import best_f1_threshold, precision_threshold
    from ..pipeline.calibration import learned_state
    from ._saved_pipeline import check_fits, copy_pipeline, store_learned

    if apply_to and output:
        raise PelError(Errors.E660)
    folds = [_fold(argument) for argument in fold or []]
    linker, documents, queries = _read(pipeline, corpus)
    learned = learned_state(linker)
    for target in [*(apply_to or []), *(path for path, _ in folds)]:
        check_fits(target, learned, source=pipeline)  # fail before the work, not after it
    parts = [collect(linker, queries, documents)]
    for path, held_out in folds:
        fold_linker, fold_documents, fold_queries = _read(path, held_out)
        parts.append(collect(fold_linker, fold_queries, fold_documents))
    n_nil = sum(int(part.is_nil.sum()) for part in parts)
    message(f"Fitting on {sum(map(len, parts)):,} mentions, {n_nil:,} of them NIL")
    was_calibrated = linker.in_context.is_calibrated
    if 0 < n_nil < _FEW:
        message(f"Fewer than {_FEW} NIL mentions: the threshold is unreliable. Use a larger corpus")
    choose = best_f1_threshold if precision is None else partial(precision_threshold, precision=precision)
    links = fit(linker, parts, choose=choose, label_minimum=by_label)
    learned = learned_state(linker)
    if linker.in_context.decides_without_threshold and not (n_nil or was_calibrated or linker.threshold is not None):
        todo = "To link every mention that has a candidate, set threshold = 1.0 in the pipeline's config.cfg"
        message(f"P(NIL) was not fitted, so its default weights still decide. {todo}")
    targets = [output] if output else list(apply_to or [pipeline])
    if output:
        copy_pipeline(pipeline, output, learned)
    else:
        for target in targets:
            store_learned(target, learned)
    result: dict[str, Any] = {
        "threshold": learned["calibrated_threshold"],
        **({"threshold_by_label": learned.get("calibrated_by_label", {})} if by_label else {}),
        **_metrics(linker, documents, links),
        "stored_in": [str(target) for target in targets],
    }
    emit(result, as_json=as_json, text=_text)


def _fold(argument: str) -> tuple[Path, Path]:
    """A pipeline and its part of the corpus."""
    pipeline, _, corpus = argument.partition("=")
    if not (pipeline and corpus):
        raise PelError(Errors.E626.format(got=argument))
    return Path(pipeline), Path(corpus)


def _read(pipeline: Path, corpus: Path) -> tuple[Any, list[Any], list[Any]]:
    """The linker, the documents, and a query for each gold mention."""
    from ..corpora import read_gold
    from ..pipeline.gold import query_maker
    from ..pipeline.saved import load_pipeline

    with without_warnings("W505", "W506", "W508"):  # "not calibrated": it is about to be
        nlp, name, component = load_pipeline(pipeline)
    make_queries = query_maker(nlp, name=name)
    documents = list(read_gold(corpus))
    queries = [query for document in documents for query in make_queries(document)]
    if not queries:
        raise PelError(Errors.E620)
    message(f"Finding candidates for {len(queries):,} mentions of {corpus}")
    return component.linker, documents, queries


def _metrics(linker: Any, documents: list[Any], links: list[Any]) -> dict[str, Any]:
    """Counts, and metrics of NIL and of recall over all classes."""
    from ..evaluation import Outcomes, gold_prediction
    from ..evaluation.metrics.nil import nil_metrics

    predictions = []
    mentions = ((document, mention) for document in documents for mention in document.mentions)
    for (document, mention), link in zip(mentions, links, strict=False):
        prediction = gold_prediction(linker.kb, document, mention, lambda gold: False)
        prediction.set_link(link)
        predictions.append(prediction)
    outcomes = Outcomes.of(predictions)
    ks = sorted({1, min(64, linker.top_k)})
    metrics: dict[str, Any] = nil_metrics(outcomes, ks)
    if not outcomes.is_nil.any():  # unknown without NIL mentions, which is not the same as 0
        metrics = {name: None if name.startswith("nil_") else value for name, value in metrics.items()}
    return {"n": len(outcomes.rank), "n_nil": int(outcomes.is_nil.sum()), **metrics}


def _text(result: dict[str, Any]) -> str:
    shares = {key for key in result if key.startswith(("nil_", "recall_"))}
    return key_values({key: percent(value) if key in shares else value for key, value in result.items()})

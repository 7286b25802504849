"""The command ``calibrate``: fit the combiner, the NIL model and the threshold."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ..util.console import percent, without_warnings
from ._app import pel_cli
from ._options import Files, Pipeline, Texts, argument, option
from ._output import JSON, emit, key_values, message, text_table

_FEW_DOCUMENTS = 100  # fewer may not be enough for the weights of a calibrated pipeline
_MANY_DOCUMENTS = 300  # their own fit flatters so little that it is not worth the time of five more


@pel_cli.command("calibrate", rich_help_panel="Train")
def calibrate(
    pipeline: Pipeline,
    corpus: Annotated[Path, argument("CORPUS.jsonl", "Development corpus (JSON lines), with NIL mentions.")],
    apply_to: Annotated[Files, option("PIPELINE", "Store it here, e.g. where the KB is whole (repeatable).")] = None,
    fold: Annotated[Texts, option("PIPELINE=CORPUS", "A pipeline built without a fold, for P(NIL).")] = None,
    also: Annotated[
        Files,
        option("CORPUS", "With --keep-weights, fit P(right) of links on this, too, as much as on CORPUS (repeatable)."),
    ] = None,
    output: Annotated[Path | None, option("FOLDER", "Write a calibrated copy here; PIPELINE is not changed.")] = None,
    precision: Annotated[
        float | None,
        option("NUMBER", "Use the lowest threshold with this NIL precision, not the best F1.", min=0.0, max=1.0),
    ] = None,
    refit_weights: Annotated[
        bool | None,
        typer.Option(
            "--refit-weights/--keep-weights",
            help="Fit the evidence weights and P(NIL), too, or keep those of a calibrated pipeline. Default: with "
            f"fewer than {_FEW_DOCUMENTS} documents, keep them if new ones would link worse.",
            show_default=False,
        ),
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Fit the evidence weights, P(NIL), the NIL threshold (best F1) and P(right), and say what that changes.

    P(NIL) is the probability that a mention is NIL, P(right) the probability that an answer is correct. All are
    stored in the pipeline.

    The metrics are those on CORPUS, which was used for fitting. Expect lower ones on unseen text. The changes are
    measured on each fifth of the documents with what was fitted on the others, unless there are more than 300.

    Example: spacy-pel calibrate training/pipeline corpus/dev.jsonl --precision 0.9
    """
    from ..evaluation.metrics.probabilities import calibration_change
    from ..evaluation.predict import link_outcomes
    from ..linking.calibration import FEW_NIL, best_f1_threshold, collect, fit, fit_trust, precision_threshold, refit_decision
    from ..pipeline.linker_data import learned_state
    from ..pipeline.saved import check_may_change, pipeline_folder
    from ._saved_pipeline import check_fits, copy_pipeline, store_learned

    if apply_to and output:
        raise PelError(Errors.E660)
    if fold and refit_weights is False:
        raise PelError(Errors.E664)
    if also and refit_weights is not False:
        raise PelError(Errors.E662)
    targets = [output] if output else [pipeline_folder(path) for path in apply_to or [pipeline]]
    for target in targets:
        check_may_change(target)
    folds = [_fold(argument) for argument in fold or []]
    linker, documents, queries = _read(pipeline, corpus)
    learned = learned_state(linker)
    for target in [*(apply_to or []), *(path for path, _ in folds)]:
        check_fits(target, learned, source=pipeline)  # fail before the work, not after it
    parts = [collect(linker, queries, documents)]
    for path, held_out in folds:
        fold_linker, fold_documents, fold_queries = _read(path, held_out)
        parts.append(collect(fold_linker, fold_queries, fold_documents))
    others = [collect(linker, more, texts) for _, texts, more in (_read(pipeline, path) for path in also or [])]
    n_nil = sum(int(part.is_nil.sum()) for part in parts)
    message(f"Fitting on {sum(map(len, parts)):,} mentions, {n_nil:,} of them NIL")
    was_calibrated, threshold = linker.decider.is_calibrated, linker.nil_threshold
    plain = linker.without_memory()  # corrections may come from these documents
    before = link_outcomes(linker.kb, documents, plain.link(queries))
    choose = best_f1_threshold if precision is None else partial(precision_threshold, precision=precision)

    def keep_weights(to_fit: Any, examples: Any) -> Any:
        refit_decision(to_fit, examples[0], choose=choose)
        if others:
            fit_trust(to_fit, [examples[0], *others])

    def keep_answers(to_fit: Any, examples: Any) -> Any:
        return refit_decision(to_fit, examples[0], choose=lambda *_: to_fit.decider.calibrated_threshold)

    n_documents = len({one.id for one in documents if one.mentions})
    may_keep = refit_weights is None and was_calibrated and not folds and n_documents < _FEW_DOCUMENTS
    refit, after = (keep_weights if refit_weights is False else partial(fit, choose=choose)), None
    if n_documents <= _MANY_DOCUMENTS:
        after = _cross_fitted(plain, parts, documents, refit)
        for next_refit in (keep_weights, keep_answers) if may_keep else ():
            if after is None or after.correct.mean() < before.correct.mean():
                refit = next_refit
                after = _cross_fitted(plain, parts, documents, refit)
    if 0 < n_nil < FEW_NIL:
        how = "stays as it was" if refit in (keep_weights, keep_answers) else "is unreliable. Use a larger corpus"
        message(f"Fewer than {FEW_NIL} NIL mentions: the threshold {how}")
    fitted = link_outcomes(linker.kb, documents, refit(linker, parts) or linker.without_memory().link(queries))
    learned = learned_state(linker)
    if linker.decider.decides_without_threshold and not (n_nil or was_calibrated or linker.threshold is not None):
        todo = "To link every mention that has a candidate, set threshold = 1.0 in the pipeline's config.cfg"
        message(f"P(NIL) was not fitted, so its default weights still decide. {todo}")
    if output:
        copy_pipeline(pipeline, output, learned)
    for target in () if output else targets:
        store_learned(target, learned)
    result: dict[str, Any] = {
        "threshold": learned["calibrated_threshold"],
        **_metrics(fitted, top_k=linker.top_k),
        "stored_in": [str(target) for target in targets],
        "weights": "kept" if refit in (keep_weights, keep_answers) else "fitted",
        "threshold_is": "kept" if refit is keep_answers else "fitted",
        "n_documents": n_documents,
        "threshold_before": threshold,
        "cross_fitted": after is not None,
        "changes": calibration_change(before, after or fitted),
    }
    emit(result, as_json=as_json, text=_text)


def _fold(argument: str) -> tuple[Path, Path]:
    """A pipeline and its part of the corpus."""
    pipeline, _, corpus = argument.partition("=")
    if not (pipeline and corpus):
        raise PelError(Errors.E626.format(got=argument))
    return Path(pipeline), Path(corpus)


def _read(pipeline: Path, corpus: Path) -> tuple[Any, list[Any], list[Any]]:
    """The linker, the documents, and a query for each gold mention.

    Raises:
        PelError: if there are no mentions.
    """
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


def _cross_fitted(linker: Any, parts: Sequence[Any], documents: list[Any], refit: Callable[..., Any]) -> Any:
    """The outcomes of each fifth of the documents, by what was fitted on the others; None if that cannot be."""
    from ..evaluation.predict import link_outcomes
    from ..linking.calibration import cross_fitted_links

    with without_warnings("W500", "W507"):  # they are about the folds
        try:
            links = cross_fitted_links(linker, parts, refit)
        except PelError:  # e.g. a fold without NIL mentions
            return None
    return None if links is None else link_outcomes(linker.kb, documents, links)


def _metrics(outcomes: Any, *, top_k: int) -> dict[str, Any]:
    """Counts, and metrics of NIL and of recall over all classes."""
    from ..evaluation.metrics.all_metrics import nil_metrics

    metrics: dict[str, Any] = nil_metrics(outcomes, sorted({1, min(64, top_k)}))
    if not outcomes.is_nil.any():  # unknown without NIL mentions, which is not the same as 0
        metrics = {name: None if name.startswith("nil_") else value for name, value in metrics.items()}
    return {"n": len(outcomes.rank), "n_nil": int(outcomes.is_nil.sum()), **metrics}


def _text(result: dict[str, Any]) -> str:
    lines = [key_values({key: value for key, value in result.items() if key != "changes"})]
    columns = ("before", "after", "change", "low", "high")
    titles = {"accuracy": "accuracy", "nil_ece": "P(NIL) off by", "answer_ece": "P(right) off by"}
    changes = [(titles[key], change) for key, change in result["changes"].items() if change]
    rows = [[title, *(percent(change[column]) for column in columns)] for title, change in changes]
    lines += ["", text_table(["", *columns], rows)]
    if not result["cross_fitted"]:
        lines.append("Measured on the documents that it was fitted on, so this flatters.")
    if result["n_documents"] < _FEW_DOCUMENTS:
        low, high = (percent(result["changes"]["accuracy"][end]) for end in ("low", "high"))
        few = f"{result['n_documents']} documents are few"
        lines.append(f"{few}: on others like them, the accuracy may have changed by {low} to {high}.")
    return "\n".join(lines)

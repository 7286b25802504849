"""The command ``calibrate``: fit the combiner, the NIL model and the threshold."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..errors import Errors, PelError
from ..util.console import percent, without_warnings
from ..util.files import unexpected
from ._app import pel_cli
from ._options import Files, Pipeline, Seed, TextColumn, Texts, argument, check_needs, option
from ._output import emit, key_values, message, text_table
from ._questions import is_questions, read_questions, write_questions

_FEW_DOCUMENTS = 100  # fewer may not be enough for the weights of a calibrated pipeline
_MANY_DOCUMENTS = 300  # their own fit flatters so little that it is not worth the time of five more


@pel_cli.command("calibrate", rich_help_panel="Train")
def calibrate(
    ctx: typer.Context,
    pipeline: Pipeline,
    corpus: Annotated[
        Path,
        argument(
            "CORPUS",
            "Development corpus (JSON lines), with NIL mentions; or a filled-in table of questions; with --ask, texts.",
        ),
    ],
    apply_to: Annotated[Files, option("PIPELINE", "Store it here, e.g. where the KB is whole (repeatable).")] = None,
    fold: Annotated[Texts, option("PIPELINE=CORPUS", "A pipeline built without a fold, for P(NIL).")] = None,
    also: Annotated[
        Files,
        option("CORPUS", "With --keep-weights, fit P(right) of links on this, too, as much as on CORPUS (repeatable)."),
    ] = None,
    output: Annotated[
        Path | None, option("PATH", "Write a calibrated copy here, and leave PIPELINE alone; with --ask, the table.")
    ] = None,
    ask: Annotated[
        int | None, option("N", "Write N answers as a table to judge, to PATH or questions.tsv.", min=1)
    ] = None,
    text_column: TextColumn = None,
    seed: Seed = 0,
    precision: Annotated[
        float | None,
        option("NUMBER", "Use the lowest threshold with this NIL precision, not the best F1.", min=0.0, max=1.0),
    ] = None,
    refit_weights: Annotated[
        bool | None,
        typer.Option(
            "--refit-weights/--keep-weights",
            help="Fit the evidence weights and P(NIL), too, or keep those of a calibrated pipeline. Default: with "
            f"fewer than {_FEW_DOCUMENTS} documents, keep them unless new ones link better.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Fit the evidence weights, P(NIL), the NIL threshold (best F1) and P(right), and say what that changes.

    P(NIL) is the probability that a mention is NIL, P(right) the probability that an answer is correct. All are
    stored in the pipeline.

    The metrics are those on CORPUS, which was used for fitting. Expect lower ones on unseen text. The changes are
    measured on each fifth of the documents with what was fitted on the others, unless there are more than 300.

    With --ask, nothing is fitted: the answers to N mentions of your text, one of each form, are written as a table.
    Fill in its column "right" with yes, NIL, the id of the right entity, or no, if that is not shown; a blank row
    counts for nothing. Give the table as CORPUS, and P(right) and the threshold are adjusted where that helps.

    Example: spacy-pel calibrate training/pipeline corpus/dev.jsonl --precision 0.9
    """
    from ..evaluation.metrics.probabilities import calibration_change
    from ..evaluation.predict import link_outcomes
    from ..linking import calibration
    from ..pipeline.linker_data import learned_state
    from ..pipeline.saved import check_may_change, pipeline_folder
    from ._saved_pipeline import check_fits, copy_pipeline, store_learned

    if ask:
        if apply_to or fold or also or precision is not None or refit_weights is not None:
            raise PelError(Errors.E623)
        written = write_questions(pipeline, corpus, output or Path("questions.tsv"), text_column, n=ask, seed=seed)
        emit(written)
        return
    check_needs(ctx, "--ask", "text_column", "seed")
    if apply_to and output:
        raise PelError(Errors.E660)
    if fold and refit_weights is False:
        raise PelError(Errors.E664)
    if also and refit_weights is not False:
        raise PelError(Errors.E622)
    targets = [output] if output else [pipeline_folder(path) for path in apply_to or [pipeline]]
    for target in targets:
        check_may_change(target)
    folds = [_fold(argument) for argument in fold or []]
    linker, make_queries = _open(pipeline)
    documents, queries, n_blank = _read(corpus, linker, make_queries)
    asked = n_blank is not None
    if asked and (fold or refit_weights):
        todo = "Leave out --fold and --refit-weights."
        raise unexpected(corpus, "annotated documents to fit weights on", "questions", todo)
    if asked and not linker.decider.confidence.is_fitted:
        raise unexpected(pipeline, "a calibrated pipeline", "one that is not", "Calibrate on annotated documents.")
    learned = learned_state(linker)
    for target in [*(apply_to or []), *(path for path, _ in folds)]:
        check_fits(target, learned, source=pipeline)  # fail before the work, not after it
    parts = [calibration.collect(linker, queries, documents)]
    parts += (_examples(held_out, *_open(path)) for path, held_out in folds)
    others = [_examples(path, linker, make_queries) for path in also or []]
    n_nil = sum(int(part.is_nil.sum()) for part in parts)
    message(f"Fitting on {sum(map(len, parts)):,} mentions, {n_nil:,} of them NIL")
    was_calibrated, threshold = linker.decider.is_calibrated, linker.nil_threshold
    plain = linker.without_memory()  # corrections may come from these documents
    before = link_outcomes(linker.kb, documents, plain.link(queries))
    choose: Any = calibration.best_f1_threshold
    if precision is not None:
        choose = partial(calibration.precision_threshold, precision=precision)

    def all_weights(to_fit: Any, examples: Any) -> Any:
        links = calibration.fit(to_fit, examples, choose=choose)
        # without NIL, P(right) would stay that of other weights
        return links if n_nil or not was_calibrated else calibration.refit_decision(to_fit, examples[:1], choose=choose)

    def threshold_only(to_fit: Any, examples: Any, choose: Any = choose) -> Any:
        calibration.refit_decision(to_fit, [examples[0], *others], choose=choose)

    p_right_only = partial(threshold_only, choose=None)
    n_documents = len({one.id for one in documents if one.mentions})
    few = was_calibrated and not (folds or others or refit_weights) and n_documents < _FEW_DOCUMENTS
    refits: list[Callable[..., Any]] = [threshold_only if asked or refit_weights is False else all_weights]
    if has_choice := asked or few:
        refits = list(dict.fromkeys([*refits, threshold_only, p_right_only]))
    for refit in refits:
        is_measured = has_choice or n_documents <= _MANY_DOCUMENTS
        after = _cross_fitted(plain, parts, documents, refit) if is_measured else None
        if not has_choice or (after and _helps(before, after, changes_answers=refit is not p_right_only)):
            break
    else:
        why = "what is fitted on four fifths of the documents does not help on the last fifth"
        if n_documents < calibration.FOLDS:
            what = "answers are judged" if asked else "documents have mentions"
            why = f"{n_documents} {what}, at least {calibration.FOLDS} are needed"
        message(f"Nothing has changed: {why}")
        refit, after = _nothing, before
    if 0 < n_nil < calibration.FEW_NIL:
        how: dict[Any, str] = {all_weights: "is unreliable. Use a larger corpus", threshold_only: "follows P(NIL)"}
        message(f"Fewer than {calibration.FEW_NIL} NIL mentions: the threshold {how.get(refit, 'stays as it was')}")
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
        "weights": "fitted" if refit is all_weights else "kept",
        "threshold_is": "fitted" if refit in (all_weights, threshold_only) else "kept",
        "n_documents": n_documents,
        **({"n_blank": n_blank} if asked else {}),
        "threshold_before": threshold,
        "cross_fitted": after is not None,
        "changes": calibration_change(before, after or fitted),
    }
    emit(result, _text)


def _fold(argument: str) -> tuple[Path, Path]:
    """A pipeline and its part of the corpus."""
    pipeline, _, corpus = argument.partition("=")
    if not (pipeline and corpus):
        raise PelError(Errors.E626.format(got=argument))
    return Path(pipeline), Path(corpus)


def _open(pipeline: Path) -> tuple[Any, Callable[..., list[Any]]]:
    """The linker, and what makes a query for each mention of a document."""
    from ..pipeline.gold import query_maker
    from ..pipeline.saved import load_pipeline

    with without_warnings("W505", "W506", "W508"):  # "not calibrated": it is about to be
        nlp, name, component = load_pipeline(pipeline)
    return component.linker, query_maker(nlp, name=name)


def _read(corpus: Path, linker: Any, make_queries: Callable[..., list[Any]]) -> tuple[list[Any], list[Any], int | None]:
    """The documents, a query for each gold mention, and of questions, the number of blank rows.

    Raises:
        PelError: if there are no mentions.
    """
    from ..corpora import read_gold

    n_blank = None
    if is_questions(corpus):
        documents, n_blank = read_questions(corpus, linker.kb)
        message(f"{len(documents):,} rows are judged, {n_blank:,} are blank and count for nothing")
    else:
        documents = list(read_gold(corpus))
    queries = [query for document in documents for query in make_queries(document)]
    if not queries:
        raise PelError(Errors.E620)
    message(f"Finding candidates for {len(queries):,} mentions of {corpus}")
    return documents, queries, n_blank


def _examples(corpus: Path, linker: Any, make_queries: Callable[..., list[Any]]) -> Any:
    from ..linking.calibration import collect

    documents, queries, _ = _read(corpus, linker, make_queries)
    return collect(linker, queries, documents)


def _nothing(*_: Any) -> None:
    """Fit nothing."""


def _helps(before: Any, after: Any, *, changes_answers: bool) -> bool:
    """Whether P(right) does not lose, and answers that change gain more than chance would: by 1.5 standard errors."""
    given = [np.where(one.correct, one.probability, 1.0 - one.probability).clip(1e-6) for one in (before, after)]
    likelihoods = [float(np.log(of_truth).mean()) for of_truth in given]
    gains = after.correct.astype(int) - before.correct
    gain_enough = bool(0 < 1.5 * np.abs(gains).sum() ** 0.5 <= gains.sum())
    return likelihoods[1] >= likelihoods[0] and (gain_enough or not changes_answers)


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
        few = f"{result['n_documents']} {'answers' if 'n_blank' in result else 'documents'} are few"
        lines.append(f"{few}: on others like them, the accuracy may have changed by {low} to {high}.")
    return "\n".join(lines)

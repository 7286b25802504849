"""The calibration of a component as JSON: all that is fitted, except the model weights."""

from typing import Any

from ..candidates.bi_encoder import BiEncoderCandidates
from ..errors import Warnings
from ..linking import Linker, Reranker
from ..linking.confidence import Confidence
from ..linking.label_types import LabelTypes
from ..types import CandidateGenerator, Combiner, NilModel
from ..util import logger

_DEFAULT_GENERATOR = BiEncoderCandidates.__name__


def learned_state(linker: Linker) -> dict[str, Any]:
    """The content of ``cfg.json``. Settings are not in it: they are in the config,
    so that ``spacy.load(config=...)`` can set them. Thresholds of single labels are in it if some were
    fitted, the generator if it is not the default one.
    """
    by_label, generator = linker.calibrated_by_label, generator_kind(linker.generator)
    return {
        "calibrated_threshold": linker.calibrated_threshold,
        **({"calibrated_by_label": dict(by_label)} if by_label else {}),
        "combiner": _state(linker.combiner),
        "nil_model": _state(linker.nil_model),
        **({"label_types": linker.label_types.state()} if linker.label_types else {}),
        **({"confidence": linker.confidence.state()} if linker.confidence.is_fitted else {}),
        **({"generator": {"kind": generator}} if generator != _DEFAULT_GENERATOR else {}),
        **({"reranker": _reranker_state(linker.reranker)} if linker.reranker else {}),
    }


def load_learned_state(linker: Linker, saved: dict[str, Any], *, name: str) -> None:
    """Load the calibration of another linker.

    Only what still applies is loaded; otherwise a warning is logged, as it is if no NIL threshold was fitted.
    With another kind of combiner, NIL model and threshold are not loaded either, as they were fitted on its
    scores; nor are they with another kind of NIL model or reranker. The types of labels go with the combiner,
    which weighs them. With another kind of generator nothing is loaded.

    Args:
        linker: built from the config.
        saved: from ``learned_state``.
        name: the component's name, for the warning.
    """
    if _load(linker, saved, name):
        linker.calibrated_threshold = saved["calibrated_threshold"]
        linker.calibrated_by_label = dict(saved.get("calibrated_by_label", {}))
        linker.confidence = Confidence.from_state(saved.get("confidence", {}))
        warn_uncalibrated(linker, name=name)
    elif linker.coverage is not None:
        logger.warning(Warnings.W508.format(name=name, coverage=linker.coverage))


def _load(linker: Linker, saved: dict[str, Any], name: str) -> bool:
    """Load the states of the parts that are of the saved kinds.

    Returns:
        Whether all are.
    """
    kinds = saved_generator_kind(saved), generator_kind(linker.generator)
    if kinds[0] != kinds[1]:
        logger.warning(Warnings.W501.format(name=name, saved=kinds[0], now=kinds[1]))
        return False
    for key, part in (("combiner", linker.combiner), ("nil_model", linker.nil_model)):
        if key == "nil_model" and not _same_reranker(linker.reranker, saved.get("reranker"), name):
            return False
        if saved[key]["kind"] != type(part).__name__:
            logger.warning(Warnings.W501.format(name=name, saved=saved[key]["kind"], now=type(part).__name__))
            return False
        part.load_state(saved[key]["state"])
        if key == "combiner":
            linker.label_types = LabelTypes.from_state(saved.get("label_types", {}))
    return True


def warn_uncalibrated(linker: Linker, *, name: str) -> None:
    """Log a warning if neither a calibration nor a setting gives a NIL threshold: what decides instead. Also
    if there is no calibration for the setting ``coverage``.

    Args:
        linker: of a pipeline that is loaded.
        name: the component's name.
    """
    if linker.coverage is not None and not linker.confidence.is_fitted:
        logger.warning(Warnings.W508.format(name=name, coverage=linker.coverage))
    if linker.is_calibrated or linker.threshold is not None:
        return
    text = Warnings.W506 if linker.decides_without_threshold else Warnings.W505
    logger.warning(text.format(name=name))


def generator_kind(generator: CandidateGenerator) -> str:
    """The kind of a generator, with the kinds of its parts, if any, in brackets."""
    parts = [generator_kind(part) for part in getattr(generator, "generators", {}).values()]
    return f"{type(generator).__name__}({' + '.join(parts)})" if parts else type(generator).__name__


def saved_generator_kind(saved: dict[str, Any]) -> str:
    """The kind that was calibrated; ``saved`` is from ``learned_state``."""
    return saved.get("generator", {}).get("kind", _DEFAULT_GENERATOR)


def _same_reranker(reranker: Reranker | None, saved: dict[str, Any] | None, name: str) -> bool:
    """Load the weights of the reranker, if it is of the saved kind; NIL model and threshold depend on it."""
    now = None if reranker is None else _reranker_state(reranker)
    kinds = [None if state is None else state["kind"] for state in (saved, now)]
    if kinds[0] != kinds[1]:
        logger.warning(Warnings.W503.format(name=name, saved=kinds[0], now=kinds[1]))
        return False
    if reranker is not None and saved is not None:
        reranker.load_state(saved["state"])
    return True


def _reranker_state(reranker: Reranker) -> dict[str, Any]:
    return {"kind": type(reranker.ranker).__name__, "state": reranker.state()}


def _state(part: Combiner | NilModel) -> dict[str, Any]:
    return {"kind": type(part).__name__, "state": part.state()}

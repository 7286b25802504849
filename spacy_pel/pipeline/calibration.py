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
    so that ``spacy.load(config=...)`` can set them. The generator is in it if it is not the default one.
    """
    decider, generator = linker.decider, generator_kind(linker.generator)
    optional = {
        "calibrated_by_label": dict(decider.calibrated_by_label),
        "confidence": decider.confidence.state(),
        "reranker": {} if decider.reranker is None else _state(decider.reranker),
        "label_types": decider.label_types.state(),
        "generator": {} if generator == _DEFAULT_GENERATOR else {"kind": generator},
    }
    in_context = {} if decider.calibrated_in_context is None else {"in_context": decider.calibrated_in_context}
    return {
        "calibrated_threshold": decider.calibrated_threshold,
        **in_context,
        "combiner": _state(decider.combiner),
        "nil_model": _state(decider.nil_model),
        **{name: state for name, state in optional.items() if state},
    }


def load_learned_state(linker: Linker, saved: dict[str, Any], *, name: str) -> None:
    """Load the calibration of another linker.

    Only what still applies is loaded; otherwise a warning is logged, as it is if no NIL threshold was fitted, or the
    linker now reads context and did not then, or the other way round.
    With another kind of combiner, NIL model and threshold are not loaded either, as they were fitted on its
    scores; nor are they with another kind of NIL model or reranker. The types of labels go with the combiner,
    which weighs them. With another kind of generator nothing is loaded.

    Args:
        linker: built from the config.
        saved: from ``learned_state``.
        name: the component's name, for the warning.
    """
    if _load(linker, saved, name):
        warn_uncalibrated(linker, name=name)
        warn_of_other_reading(linker, name=name)
    elif linker.coverage is not None:
        logger.warning(Warnings.W508.format(name=name, coverage=linker.coverage))


def _load(linker: Linker, saved: dict[str, Any], name: str) -> bool:
    """Load the states of the parts that are of the saved kinds, and if all are, threshold and confidence.

    Returns:
        Whether all are.
    """
    decider, kind, now = linker.decider, saved_generator_kind(saved), generator_kind(linker.generator)
    if kind != now:
        logger.warning(Warnings.W501.format(name=name, saved=kind, now=now))
        return False
    if saved["combiner"]["kind"] == _kind(decider.combiner):
        decider.label_types = LabelTypes.from_state(saved.get("label_types", {}))
    parts = {"combiner": decider.combiner, "reranker": decider.reranker, "nil_model": decider.nil_model}
    for key, part in parts.items():  # NIL model and threshold depend on the reranker
        saved_kind, part_kind = saved.get(key, {}).get("kind"), None if part is None else _kind(part)
        if saved_kind != part_kind:
            text = Warnings.W503 if key == "reranker" else Warnings.W501
            logger.warning(text.format(name=name, what="the reranker", saved=saved_kind, now=part_kind))
            return False
        if part is not None:
            part.load_state(saved[key]["state"])
    decider.calibrated_threshold = saved["calibrated_threshold"]
    decider.calibrated_by_label = dict(saved.get("calibrated_by_label", {}))
    decider.calibrated_in_context = saved.get("in_context")
    decider.confidence = Confidence.from_state(saved.get("confidence", {}))
    return True


def warn_uncalibrated(linker: Linker, *, name: str) -> None:
    """Log a warning if neither a calibration nor a setting gives a NIL threshold: what decides instead. Also
    if there is no calibration for the setting ``coverage``.

    Args:
        linker: of a pipeline that is loaded.
        name: the component's name.
    """
    if linker.coverage is not None and not linker.decider.confidence.is_fitted:
        logger.warning(Warnings.W508.format(name=name, coverage=linker.coverage))
    if linker.decider.is_calibrated or linker.threshold is not None:
        return
    text = Warnings.W506 if linker.decider.decides_without_threshold else Warnings.W505
    logger.warning(text.format(name=name))


def warn_of_other_reading(linker: Linker, *, name: str) -> None:
    """Log a warning if a linker reads mentions in their context and was calibrated on surface forms, or the other way
    round."""
    then = linker.decider.calibrated_in_context
    if then is not None and then != linker.reads_context:
        saved, now = ("always", "never") if then else ("never", "always")
        logger.warning(Warnings.W503.format(name=name, what="read_context =", saved=saved, now=now))


def generator_kind(generator: CandidateGenerator) -> str:
    """The kind of a generator, with the kinds of its parts, if any, in brackets."""
    parts = [generator_kind(part) for part in getattr(generator, "generators", {}).values()]
    return f"{type(generator).__name__}({' + '.join(parts)})" if parts else type(generator).__name__


def saved_generator_kind(saved: dict[str, Any]) -> str:
    """The kind that was calibrated; ``saved`` is from ``learned_state``."""
    return saved.get("generator", {}).get("kind", _DEFAULT_GENERATOR)


def _kind(part: Combiner | NilModel | Reranker) -> str:
    return type(part.ranker if isinstance(part, Reranker) else part).__name__


def _state(part: Combiner | NilModel | Reranker) -> dict[str, Any]:
    return {"kind": _kind(part), "state": part.state()}

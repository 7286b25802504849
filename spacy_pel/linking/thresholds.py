"""The NIL threshold of a label's mentions, and fitting one for each label."""

from typing import Callable, Dict, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ..errors import PelError, Warnings
from ..types import Scores
from ..util import logger

Threshold = Union[None, float, Mapping[str, float]]  # as in the settings
ChooseThreshold = Callable[[Scores, NDArray[np.bool_]], float]


def threshold_of(
    label: str, *, setting: Threshold, calibrated: Optional[float], by_label: Mapping[str, float]
) -> Optional[float]:
    """What is set wins over what was calibrated, and then a label's own over the one of all.

    label (str): the mention's NER label.
    setting (Threshold): one for all labels, or label -> threshold, or None.
    calibrated (Optional[float]): fitted on all mentions.
    by_label (Mapping[str, float]): fitted on the mentions of one label.
    RETURNS (Optional[float]): a higher nil_score is NIL; None = NIL only for lack of candidates.
    """
    if isinstance(setting, Mapping):
        if label in setting:
            return setting[label]
    elif setting is not None:
        return setting
    return by_label.get(label, calibrated)


def fit_by_label(
    choose: ChooseThreshold,
    labels: Sequence[str],
    nil_scores: Scores,
    is_nil: NDArray[np.bool_],
    *,
    least: int,
) -> Dict[str, float]:
    """Fit a threshold for each label that has enough mentions.

    choose (ChooseThreshold): e.g. ``best_f1_threshold``.
    labels (Sequence[str]): (n,), of the mentions.
    nil_scores (Scores): (n,).
    is_nil (NDArray[np.bool_]): (n,).
    least (int): NIL mentions, and as many others, that a label must have.
    RETURNS (Dict[str, float]): label -> threshold; a label without one shares that of all.
    """
    thresholds: Dict[str, float] = {}
    for label in sorted(set(labels)):
        own = np.array([each == label for each in labels], dtype=np.bool_)
        n_nil, n = int(is_nil[own].sum()), int(own.sum())
        if min(n_nil, n - n_nil) < max(1, least):
            continue
        try:
            thresholds[label] = choose(nil_scores[own], is_nil[own])
        except PelError as err:  # a stated precision may be out of reach for one label
            logger.warning(Warnings.W502.format(label=label, came=err))
    return thresholds

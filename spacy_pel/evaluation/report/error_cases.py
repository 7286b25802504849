"""A sample of a run's errors, of each kind the same number."""

from dataclasses import replace
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from ..prediction import Prediction
from .error_kinds import KINDS, error_kind, why


class ErrorCase(NamedTuple):
    """An error to be shown.

    kind (str): a key of ``error_kinds.KINDS``.
    why (str): a sentence.
    prediction (Prediction): with its first candidates.
    gold_found (Dict[str, Tuple[int, float]]): rank and score of each gold id among all candidates.
    """

    kind: str
    why: str
    prediction: Prediction
    gold_found: Dict[str, Tuple[int, float]]


class ErrorSample:
    """Takes a run's predictions one by one and keeps errors, drawn at random within each kind
    (reservoir sampling: Vitter 1985, algorithm R).

    n_per_kind (int): errors kept of a kind.
    n_candidates (int): candidates kept of an error.
    thresholds (Dict[str, Optional[float]]): of NIL by mention label; "" for all other labels.
    seed (int): of the draws.
    """

    def __init__(
        self,
        *,
        n_per_kind: int,
        n_candidates: int = 5,
        thresholds: Optional[Dict[str, Optional[float]]] = None,
        seed: int = 0,
    ):
        self.n_per_kind = n_per_kind
        self.n_candidates = n_candidates
        self.thresholds = thresholds or {}
        self.counts: Dict[str, int] = dict.fromkeys(KINDS, 0)
        self._kept: Dict[str, Dict[int, ErrorCase]] = {kind: {} for kind in KINDS}  # slot -> case
        # each kind its own draws: more errors of one do not change the sample of another
        self._rng = {kind: np.random.default_rng([seed, place]) for place, kind in enumerate(KINDS)}

    def add(self, prediction: Prediction) -> None:
        kind = error_kind(prediction)
        if kind is None:
            return
        slot = self.counts[kind]
        self.counts[kind] += 1
        if slot >= self.n_per_kind:
            slot = int(self._rng[kind].integers(self.counts[kind]))
        if slot < self.n_per_kind:
            self._kept[kind][slot] = self._case(kind, prediction)

    def cases(self) -> List[ErrorCase]:
        """RETURNS (List[ErrorCase]): by kind, and within it by document and offset."""
        return [
            case
            for kept in self._kept.values()
            for case in sorted(kept.values(), key=lambda case: (case.prediction.doc, case.prediction.start))
        ]

    def _case(self, kind: str, prediction: Prediction) -> ErrorCase:
        threshold = self.thresholds.get(prediction.label, self.thresholds.get(""))
        gold = {
            found: (place, score)
            for place, (found, score) in enumerate(prediction.candidates, start=1)
            if found in prediction.gold
        }
        short = replace(prediction, candidates=prediction.candidates[: self.n_candidates])
        return ErrorCase(kind, why(kind, prediction, threshold), short, gold)

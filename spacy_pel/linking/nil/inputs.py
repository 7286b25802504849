"""What a fitted NIL model reads: a summary of the candidates, and where the mention's vector points."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...types import CandidateTable, Floats, Scores, Vectors
from ...util.arrays import best_first
from ..track_record import FEATURES as _RECORD
from ..track_record import WORD_FEATURES as _OF_MENTIONS

# of the summary numbers
_MARGIN = ["score", "margin", "entropy"]
# of the best
_TOP = ["name", "mention", "vote", "exact", "prior", "popularity", "edit", "variant", "derivation"]
_BEST = ["name", "mention", "exact", "prior", "seen", "edit"]  # the highest of all candidates
_EPSILON = 1e-3
_DIGITS = 6  # significant ones that are kept of a weight: a pipeline is smaller, P(NIL) the same
# the record of all candidates together, weighted by their votes or by their scores
_AROUND = [f"{how}_{name}" for how in ("voted", "scored") for name in _RECORD]


@dataclass(frozen=True)
class NilInputs:
    """Standardised inputs: the numbers of ``summarize``, the track record of the candidates and of the
    mention's words where there is one, and the mention's vector along principal directions.

    Attributes:
        mean: (c,), of the inputs that the model was fitted on.
        scale: (c,), their standard deviations.
        directions: (d, width); d may be 0.
        with_record: whether the track record is read, see ``TrackRecord`` and ``SurfaceRecord``.
    """

    mean: Floats
    scale: Floats
    directions: Vectors
    with_record: bool

    @classmethod
    def fit(
        cls, table: CandidateTable, scores: Scores, is_nil: NDArray[np.bool_], *, directions: int
    ) -> tuple["NilInputs", Floats, NDArray[np.bool_]]:
        """Learn from mentions that have candidates; the others are NIL by rule.

        Args:
            table: the candidates of n mentions.
            scores: (n, k), the combiner's.
            is_nil: (n,), True where the gold entity is not in the KB.
            directions: maximum number of directions; 0 = none.

        Returns:
            The inputs, and (f, c) values and (f,) is_nil of mentions with candidates.

        Raises:
            PelError: if these mentions are not of both kinds.
        """
        filled = table.has_candidates
        n_nil, n = int(is_nil[filled].sum()), int(filled.sum())
        if n_nil in (0, n):
            raise PelError(Errors.E610.format(n_nil=n_nil, n=n))
        principal = rounded(_principal(table.vectors, filled, directions)).astype(np.float32)
        with_record = set(_RECORD) <= set(table.features)
        values = _raw(table, scores, principal, with_record)[filled]
        deviation = values.std(axis=0)
        scale = np.where(deviation > 1e-9, deviation, 1.0)
        inputs = cls(values.mean(axis=0), scale, principal, with_record)
        return inputs, inputs._standardised(values), is_nil[filled]

    def __call__(self, table: CandidateTable, scores: Scores) -> Floats:
        """(n, c), clipped at 5 standard deviations: what is farther off counts no more.

        Raises:
            PelError: if the vectors have another width, or there are none.
        """
        return self._standardised(_raw(table, scores, self.directions, self.with_record))

    def _standardised(self, values: Floats) -> Floats:
        return np.clip((values - self.mean) / self.scale, -5.0, 5.0)

    @property
    def columns(self) -> list[str]:
        """Names of the c inputs."""
        record = [*(f"top_{name}" for name in _RECORD), *_AROUND, *_OF_MENTIONS] if self.with_record else []
        return [*summary_names(), *record, *(f"direction_{i}" for i in range(len(self.directions)))]

    def state(self) -> dict[str, Any]:
        """Columns, mean, scale and directions, as JSON."""
        return {
            "columns": self.columns,
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "directions": rounded(self.directions).tolist(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "NilInputs":
        """As saved by ``state``.

        Raises:
            PelError: if the saved inputs are others.
        """
        directions = np.asarray(state.get("directions", []), dtype=np.float32)
        saved = state.get("columns") or ["?"]
        with_record = any(name.startswith("top_record_") for name in saved)
        mean, scale = (np.asarray(state.get(name, []), dtype=np.float64) for name in ("mean", "scale"))
        inputs = cls(mean, scale, directions, with_record)
        if saved != inputs.columns:
            raise PelError(Errors.E611.format(got=saved, expected=inputs.columns))
        return inputs


def logistic(logits: Floats) -> Floats:
    """The logistic function, without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * logits))  # type: ignore[no-any-return]


def best_scores(table: CandidateTable, scores: Scores) -> Floats:
    """(n,), the best score of each mention; 0 where there is no candidate."""
    return np.where(table.has_candidates, scores.max(axis=1), 0.0).astype(np.float64)


def summary_names() -> list[str]:
    """The names of the columns of ``summarize``."""
    return [*_MARGIN, *(f"top_{name}" for name in _TOP), "top_log_prior", *(f"best_{name}" for name in _BEST)]


def summarize(table: CandidateTable, scores: Scores) -> Floats:
    """Numbers that separate mentions whose entity is among the candidates from those whose entity is
    not: how good the best candidate is, and how far ahead of the others.

    Args:
        table: the candidates of n mentions; a feature that it lacks counts as 0.
        scores: (n, k), the combiner's.

    Returns:
        (n, len(summary_names())); zeros where there is no candidate.
    """
    n, filled = len(scores), table.filled
    ordered = np.take_along_axis(scores, best_first(scores)[:, :2], axis=1)  # a tie goes to the earlier candidate
    best = ordered[:, 0]
    second = ordered[:, -1] if ordered.shape[1] > 1 else np.full(n, -np.inf)
    margin = best - np.where(np.isfinite(second), second, 0.0)
    absent = np.zeros(filled.shape, dtype=np.float32)
    # the name of a formula is a name as much as a variant is, and too rare for a weight of its own
    variant = np.maximum(table.features.get("variant", absent), table.features.get("formula", absent))
    features: dict[str, Scores] = {**table.features, "variant": variant}
    columns = [best, margin, _entropy(scores)]
    columns += [of_first(features.get(name, absent), scores) for name in _TOP]
    columns.append(np.log(of_first(features.get("prior", absent), scores) + _EPSILON))
    columns += [np.where(filled, features.get(name, absent), -np.inf).max(axis=1) for name in _BEST]
    return np.where(table.has_candidates[:, None], np.stack(columns, axis=1), 0.0).astype(np.float64)


def of_first(values: NDArray[Any], scores: Scores) -> NDArray[Any]:
    """(n,), of (n, k) values those of the candidates with the best scores; a tie goes to the earlier one."""
    first = scores.argmax(axis=1)
    return values[np.arange(len(first)), first]


def _raw(table: CandidateTable, scores: Scores, directions: Vectors, with_record: bool) -> Floats:
    columns: list[NDArray[Any]] = [summarize(table, scores)]
    n = len(scores)
    if with_record:
        firsts = np.stack([of_first(table.features[name], scores) for name in _RECORD], axis=1)
        unknown = np.zeros(n, dtype=np.float32)
        of_mentions = np.stack([table.of_mentions.get(name, unknown) for name in _OF_MENTIONS], axis=1)
        # zeros where there is no candidate
        columns += [np.where(table.has_candidates[:, None], firsts, 0.0), _around(table, scores), of_mentions]
    if len(directions):
        if table.vectors is None or table.vectors.shape[1] != directions.shape[1]:
            got = "none" if table.vectors is None else f"vectors of width {table.vectors.shape[1]}"
            raise PelError(Errors.E615.format(expected=directions.shape[1], got=got))
        columns.append(table.vectors @ directions.T)
    return np.concatenate(columns, axis=1)


def _around(table: CandidateTable, scores: Scores) -> Floats:
    """(n, len(_AROUND)), weighted means over the candidates; zeros where no weight is above 0."""
    columns = []
    for weights in (table.features.get("vote", np.zeros_like(scores)), scores):
        positive = np.where(table.filled, np.maximum(weights, 0.0), 0.0).astype(np.float64)  # scores may be cosines
        total = positive.sum(axis=1)
        for name in _RECORD:
            weighted = (positive * table.features[name]).sum(axis=1)
            columns.append(np.divide(weighted, total, out=np.zeros(len(total)), where=total > 0))
    return np.stack(columns, axis=1)


def _principal(vectors: Vectors | None, used: NDArray[np.bool_], n: int) -> Vectors:
    """(d, width), the directions in which the vectors differ most, with d <= n."""
    if vectors is None or not n:
        return np.zeros((0, 0), dtype=np.float32)
    centred = vectors[used].astype(np.float64) - vectors[used].mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred)  # ascending
    best = directions[:, ::-1][:, :n].T
    # the sign is arbitrary; fixed, so that the same text gives the same state everywhere
    best *= np.sign(best[np.arange(len(best)), np.abs(best).argmax(axis=1)])[:, None]
    return best[variances[::-1][: len(best)] > 1e-9].astype(np.float32)


def _entropy(scores: Scores) -> Floats:
    shares = np.maximum(scores.astype(np.float64), 0.0)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
    return -(shares * np.log(np.maximum(shares, 1e-12))).sum(axis=1)  # type: ignore[no-any-return]


def rounded(values: NDArray[Any]) -> Floats:
    """Fitted numbers with as many digits as they are saved with, so that a loaded model gives the same answers."""
    flat = [float(f"{value:.{_DIGITS}g}") for value in values.ravel().tolist()]
    return np.array(flat).reshape(values.shape)

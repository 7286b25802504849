"""What calibrating NIL models share: the scores they calibrate, and their saved state."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...types import CandidateTable, NilModel, Scores
from .best_scores import Floats, best_scores

Flags = NDArray[np.bool_]


def raw_scores(table: CandidateTable, scores: Scores, base: NilModel | None) -> tuple[Floats, Flags]:
    """The numbers that are calibrated.

    Args:
        table: the candidates of n mentions.
        scores: (m,), the combiner's.
        base: gives the numbers; None = 1 - best score.

    Returns:
        (n,) numbers, and (n,) which mentions have candidates; the others are NIL
        by rule.
    """
    best, filled = best_scores(table, scores)
    return (1.0 - best if base is None else base(table, scores).astype(np.float64)), filled


def fit_base(table: CandidateTable, scores: Scores, is_nil: Flags, base: NilModel | None) -> tuple[Floats, Flags]:
    """Fit the base, if there is one, and give what the calibration learns from.

    Returns:
        Numbers and is_nil of the mentions that have candidates.

    Raises:
        PelError: if they are not of both kinds.
    """
    _, filled = best_scores(table, scores)
    n_nil, n = int(is_nil[filled].sum()), int(filled.sum())
    if n_nil in (0, n):
        raise PelError(Errors.E610.format(n_nil=n_nil, n=n))
    if base is not None:
        base.fit(table, scores, is_nil)
    return raw_scores(table, scores, base)[0][filled], is_nil[filled]


def with_base(learned: dict[str, Any], base: NilModel | None) -> dict[str, Any]:
    """The fitted state, and that of the base."""
    if base is None:
        return learned
    return {**learned, "base": {"kind": type(base).__name__, "state": base.state()}}


def load_base(model: NilModel, state: dict[str, Any], keys: list[str], base: NilModel | None) -> None:
    """Check a saved state and hand the base its part of it.

    Args:
        model: whose state it is.
        state: not empty.
        keys: that the model needs.
        base: the model's base.

    Raises:
        PelError: if a key is missing, or the state was fitted with another base.
    """
    kind, saved = type(base).__name__ if base else None, state.get("base")
    saved_kind = saved["kind"] if saved else None
    if kind != saved_kind or not all(key in state for key in keys):
        others = ", ".join(key for key in state if key != "base") or "nothing"
        raise PelError(
            Errors.E612.format(
                kind=type(model).__name__,
                expected=f"the base {kind} and {', '.join(keys)}",
                got=f"the base {saved_kind} and {others}",
            )
        )
    if base is not None and saved:
        base.load_state(saved["state"])

"""Where reading the context of a mention may change its answer: where its surface form leaves room for NIL.

What context tells is the kind of a mention, and so whether the knowledge base has it. A learned P(the answer changes)
over shares, senses and P(NIL) orders mentions no better than P(NIL) alone: docs/studies.md, "Form first".
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import Scores

_ACCURACY, _PRECISION = 0.001, 0.002  # that may be lost by not reading
_SHARES = np.arange(101) / 100  # of contexts to read


class Answers(NamedTuple):
    """Answers to n annotated mentions by one stage, out of fold.

    Attributes:
        nil_scores: (n,)
        is_right: (n,), with NIL.
    """

    nil_scores: Scores
    is_right: NDArray[np.bool_]


def fit_gate(form: Answers, context: Answers, is_nil: NDArray[np.bool_]) -> float:
    """Find how few contexts have to be read.

    Args:
        form: answers by the surface forms alone.
        context: answers in context.
        is_nil: (n,), True where the gold entity is not in the KB.

    Returns:
        A threshold: a mention is read if its nil_score by the form is higher. With it, answers are right as often as if
        all were read, less 0.1 points, and the average precision of NIL is the same, less 0.2 points.
    """
    from sklearn.metrics import average_precision_score

    order = np.argsort(-form.nil_scores, kind="stable")
    accuracy, precision = context.is_right.mean(), average_precision_score(is_nil, context.nil_scores)
    for n_read in np.ceil(_SHARES * len(order)).astype(np.int64).tolist():
        read = np.zeros(len(order), dtype=np.bool_)
        read[order[:n_read]] = True
        nil_scores = np.where(read, context.nil_scores, form.nil_scores)
        is_right = np.where(read, context.is_right, form.is_right)
        if (
            is_right.mean() >= accuracy - _ACCURACY
            and average_precision_score(is_nil, nil_scores) >= precision - _PRECISION
        ):
            break
    ranked = np.concatenate([[np.inf], form.nil_scores[order], [-np.inf]])
    return float(ranked[n_read + 1]) if n_read else 1.0

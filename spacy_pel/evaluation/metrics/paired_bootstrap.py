"""95% intervals of the difference of two runs on the same mentions.

Each bootstrap sample draws whole documents, with replacement, and both runs are measured on the same
draw: errors cluster in documents, and the two runs make many of the same errors.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bootstrap import document_draws, percentiles
from .outcomes import Flags, Floats


class Difference(NamedTuple):
    """A metric of two runs.

    Attributes:
        a, b: its value for each.
        difference: b - a.
        low, high: 95% interval of the difference.
    """

    a: float
    b: float
    difference: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """0 is outside the interval."""
        return self.low > 0 or self.high < 0

    @property
    def in_points(self) -> str:
        """The difference of two shares and its interval in percentage points, for tables:
        "+0.3 [-0.2, +0.9]"."""
        return f"{100 * self.difference:+.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"


def share_difference(
    a_hits: Flags,
    b_hits: Flags,
    counted: Flags,
    document: NDArray[np.int64],
    *,
    n_samples: int,
    rng: np.random.Generator,
) -> Difference:
    """Difference of two shares of the same mentions, e.g. recall@1.

    Args:
        a_hits, b_hits: (n,), right or not.
        counted: (n,), the mentions that count.
        document: (n,), the document of each mention.
        n_samples: bootstrap samples.
        rng: makes the draws.

    Returns:
        All 0 if no mention counts.
    """
    if not counted.any():
        return Difference(0.0, 0.0, 0.0, 0.0, 0.0)
    # documents without such a mention add nothing
    used = np.unique(document[counted], return_inverse=True)[1]
    counts = np.bincount(used).astype(np.float64)
    a = np.bincount(used, weights=a_hits[counted])
    b = np.bincount(used, weights=b_hits[counted])
    samples = [(draws @ (b - a)) / (draws @ counts) for draws in document_draws(len(counts), n_samples, rng)]
    return _difference(a.sum() / counts.sum(), b.sum() / counts.sum(), np.concatenate(samples))


def metric_difference(
    a_metric: Callable[[Floats], float],
    b_metric: Callable[[Floats], float],
    document: NDArray[np.int64],
    *,
    n_samples: int,
    rng: np.random.Generator,
) -> Difference:
    """Difference of a metric that is not a share.

    Args:
        a_metric, b_metric: take (n,) weights, one per mention.
            The other arguments and the result are those of ``share_difference``.
    """
    n_documents = int(document.max()) + 1
    samples = [
        b_metric(weights) - a_metric(weights)
        for draws in document_draws(n_documents, n_samples, rng)
        for weights in (draw[document] for draw in draws)
    ]
    everything = np.ones(len(document))
    return _difference(a_metric(everything), b_metric(everything), np.asarray(samples))


def _difference(a: float, b: float, samples: Floats) -> Difference:
    return Difference(float(a), float(b), float(b - a), *percentiles(samples))

"""95% intervals by drawing documents with replacement.

Written by hand, not with ``scipy.stats.bootstrap``: the published intervals come from these draws, and
scipy's would change them in the third digit. It would be faster for shares (1,000 samples of 879
documents: 0.03 s, here 0.10 s), which hardly matters next to the time of linking.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .outcomes import Floats

_BLOCK = 50  # samples drawn at a time, to keep memory small


def document_draws(n_documents: int, n_samples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Draw samples of documents. Errors cluster in documents, so drawing single mentions would give
    intervals that are too narrow.

    Yields:
        (block, n_documents), how often each sample contains each document.
    """
    shares = np.full(n_documents, 1.0 / max(1, n_documents))
    for start in range(0, n_samples, _BLOCK):
        yield rng.multinomial(n_documents, shares, size=min(_BLOCK, n_samples - start)).astype(np.float64)


def share_interval(hits: Floats, counts: Floats, *, n_samples: int, rng: np.random.Generator) -> tuple[float, float]:
    """Interval of sum(hits) / sum(counts).

    Args:
        hits, counts: (n_documents,), totals of each document.
        n_samples: bootstrap samples.
        rng: makes the draws.

    Returns:
        The 2.5th and 97.5th percentile.
    """
    draws = document_draws(len(hits), n_samples, rng)
    return percentiles(np.concatenate([(one @ hits) / np.maximum(one @ counts, 1e-12) for one in draws]))


def weighted_interval(
    metric: Callable[[Floats], float], document: NDArray[np.int64], *, n_samples: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Interval of a metric that is not a share.

    Args:
        metric: takes (n,) weights, one per mention.
        document: (n,), the document of each mention.
        n_samples: bootstrap samples.
        rng: makes the draws.

    Returns:
        The 2.5th and 97.5th percentile.
    """
    n_documents = int(document.max()) + 1
    values = [metric(draw[document]) for draws in document_draws(n_documents, n_samples, rng) for draw in draws]
    return percentiles(np.asarray(values))


def percentiles(values: Floats) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile."""
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)

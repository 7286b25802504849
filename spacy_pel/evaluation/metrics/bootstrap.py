"""95 % intervals by drawing documents with replacement."""

from typing import Callable, Iterator, Tuple

import numpy as np
from numpy.typing import NDArray

_BLOCK = 50  # samples drawn at a time, to keep memory small
Floats = NDArray[np.float64]


def document_draws(n_documents: int, n_samples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Draw samples of documents; mentions of one document stand or fall together, so drawing
    single mentions would give intervals that are too narrow.

    YIELDS (Floats): (block, n_documents), how often each sample holds each document.
    """
    shares = np.full(n_documents, 1.0 / max(1, n_documents))
    for start in range(0, n_samples, _BLOCK):
        yield rng.multinomial(n_documents, shares, size=min(_BLOCK, n_samples - start)).astype(np.float64)


def share_interval(
    hits: Floats, counts: Floats, *, n_samples: int, rng: np.random.Generator
) -> Tuple[float, float]:
    """Interval of sum(hits) / sum(counts).

    hits, counts (Floats): (n_documents,), totals of each document.
    n_samples (int): bootstrap samples.
    rng (np.random.Generator): where the draws come from.
    RETURNS (Tuple[float, float]): the 2.5th and 97.5th percentile.
    """
    shares = []
    for draws in document_draws(len(hits), n_samples, rng):
        shares.append((draws @ hits) / np.maximum(draws @ counts, 1e-12))
    return _percentiles(np.concatenate(shares))


def weighted_interval(
    metric: Callable[[Floats], float],
    document: NDArray[np.int64],
    *,
    n_samples: int,
    rng: np.random.Generator,
) -> Tuple[float, float]:
    """Interval of a metric that is no simple share.

    metric (Callable): takes (n,) weights, one per mention.
    document (NDArray[np.int64]): (n,), the document of each mention.
    RETURNS (Tuple[float, float]): the 2.5th and 97.5th percentile.
    """
    n_documents = int(document.max()) + 1
    values = [
        metric(draw[document]) for draws in document_draws(n_documents, n_samples, rng) for draw in draws
    ]
    return _percentiles(np.asarray(values))


def _percentiles(values: Floats) -> Tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)

"""Paired intervals: samples of two documents listed by hand, and properties."""

import numpy as np
import pytest

from spacy_pel.evaluation.metrics.bootstrap import metric_difference, share_difference


def difference(a, b, document, counted=None, seed=0, n_samples=1000):
    a, b = np.asarray(a, dtype=bool), np.asarray(b, dtype=bool)
    counted = np.ones(len(a), dtype=bool) if counted is None else np.asarray(counted, dtype=bool)
    rng = np.random.default_rng(seed)
    return share_difference(a, b, counted, np.asarray(document), n_samples=n_samples, rng=rng)


def test_two_documents():
    # document 0: one mention, B alone is right; document 1: three, A alone is right
    found = difference([0, 1, 1, 1], [1, 0, 0, 0], [0, 1, 1, 1])
    assert (found.a, found.b, found.difference) == (0.75, 0.25, -0.5)
    # the samples are {0, 0}: +1, {0, 1}: -0.5, {1, 1}: -1; the outer ones have a quarter each
    assert (found.low, found.high) == (-1.0, 1.0) and not found.significant


def test_the_same_everywhere_has_no_width():
    found = difference([0, 1] * 30, [1, 1] * 30, np.repeat(np.arange(30), 2))
    assert (found.low, found.high) == (0.5, 0.5) and found.significant


def test_only_counted_mentions():
    found = difference([1, 0, 0], [0, 1, 1], [0, 1, 2], counted=[0, 1, 1])
    assert (found.a, found.b, found.low, found.high) == (0.0, 1.0, 1.0, 1.0)
    nothing = difference([1, 0], [0, 1], [0, 1], counted=[0, 0])
    assert tuple(nothing) == (0.0,) * 5 and not nothing.significant


def test_metric_of_weights_agrees_with_the_share():
    rng = np.random.default_rng(4)
    a, b, document = rng.random(90) < 0.5, rng.random(90) < 0.7, np.repeat(np.arange(30), 3)
    by_weights = metric_difference(
        lambda weights: float(weights @ a / weights.sum()),
        lambda weights: float(weights @ b / weights.sum()),
        document,
        n_samples=300,
        rng=np.random.default_rng(0),
    )
    assert by_weights == pytest.approx(difference(a, b, document, n_samples=300))

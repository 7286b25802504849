"""McNemar's test against figures worked out by hand."""

import numpy as np
import pytest
from scipy.stats import binomtest

from spacy_pel.training.report.compare import mcnemar


def outcome(n_both, only_a, only_b, n_neither):
    counts = [n_both, only_a, only_b, n_neither]
    a = np.repeat([True, True, False, False], counts)
    b = np.repeat([True, False, True, False], counts)
    found = mcnemar(a, b)
    assert [found.n_both, found.n_only_a, found.n_only_b, found.n_neither] == counts
    return found


def test_exact_below_25_discordant_pairs():
    found = outcome(90, 1, 6, 3)
    # 2 * (1 + 7) / 2^7: no or one head in seven throws, both tails
    assert found.p_value == pytest.approx(0.125) and found.test == "exact binomial"
    assert not found.significant and outcome(0, 0, 6, 0).p_value == pytest.approx(2 / 64)
    assert outcome(0, 0, 6, 0).significant and not outcome(0, 0, 5, 0).significant
    for only_a in range(25):
        expected = binomtest(only_a, 24, 0.5).pvalue
        assert outcome(2, only_a, 24 - only_a, 5).p_value == pytest.approx(expected)


def test_chi_square_from_25_on():
    found = outcome(50, 10, 20, 50)
    assert found.test == "chi-square" and found.statistic == pytest.approx(81 / 30)
    assert found.p_value == pytest.approx(0.1003, abs=1e-4)  # chi-square 2.7, one degree of freedom
    assert outcome(0, 12, 13, 0).statistic == 0.0 and outcome(0, 12, 12, 0).test == "exact binomial"
    # 3.84 is the 5 % point: (29 - 1)^2 / 200 = 3.92 lies beyond it, 3.645 does not
    edge = outcome(0, 114, 85, 0)
    assert edge.statistic == pytest.approx(28**2 / 199) and edge.significant
    assert not outcome(0, 114, 86, 0).significant


def test_runs_that_never_differ():
    for counts in ((5, 0, 0, 5), (0, 0, 0, 0), (0, 30, 30, 0), (0, 3, 3, 0)):
        assert outcome(*counts).p_value == 1.0

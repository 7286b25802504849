"""Numbers of names of candidates that share one."""

import numpy as np
import pytest

from spacy_pel.candidates.evidence.name_counts import name_counts
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity


@pytest.fixture(scope="module")
def kb():
    return KnowledgeBase(
        [Entity("A", "gout", ("podagra", "gouty arthritis")), Entity("B", "gout"), Entity("C", "asthma", ("wheeze",))]
    )


def test_the_one_with_more_names_is_above_the_mean(kb):
    found = name_counts(kb, np.array([[0, 1, 2], [2, 0, -1]]), np.array([[True, True, False], [True, False, False]]))
    half = (np.log(4) - np.log(2)) / 2
    assert found[0].tolist() == pytest.approx([half, -half, 0.0])
    assert found[1].tolist() == [0.0, 0.0, 0.0], "nothing to compare it with"


def test_nothing_is_compared_without_candidates(kb):
    assert name_counts(kb, np.zeros((0, 3), np.int64), np.zeros((0, 3), bool)).shape == (0, 3)
    assert not name_counts(kb, np.full((2, 1), -1), np.zeros((2, 1), bool)).any()

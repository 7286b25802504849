"""The metrics of a batch equal their definitions."""

import pytest
import torch

from spacy_pel.training.training_log import score_metrics


def test_against_the_hardest_negatives():
    scores = torch.tensor([[0.5, 0.25, 0.75], [0.0, -0.5, -1.0], [0.5, 0.5, 0.5]])
    wrong = torch.tensor([[False, True, False], [True, False, True], [False, False, False]])
    found = score_metrics(torch.tensor([0.5, -0.5, 0.25]), scores, wrong)
    assert found == {
        "similarity+": pytest.approx(0.25 / 3),
        "similarity-": pytest.approx((0.25 + 0.0) / 2),  # the third has no negative
        "accuracy": pytest.approx(2 / 3),
    }

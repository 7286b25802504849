"""Metrics of a batch's scores for the log."""

import torch
from torch import Tensor


def score_metrics(positives: Tensor, scores: Tensor, wrong: Tensor) -> dict[str, float]:
    """How far the positives are from the hardest negatives.

    Args:
        positives: (n,) scores of the positives, detached.
        scores: (n, m) detached.
        wrong: (n, m) bool, True = a negative.

    Returns:
        "similarity+" and "similarity-" (means over positives and over the hardest
        negatives; 0 if there are none), and "accuracy", the share of positives above all of their negatives.
    """
    hardest, pushes = scores.masked_fill(~wrong, -torch.inf).amax(dim=1), wrong.any(dim=1)
    pushed = float(hardest[pushes].mean()) if pushes.any() else 0.0
    accuracy = float((positives > hardest).float().mean())
    return {"similarity+": float(positives.mean()), "similarity-": pushed, "accuracy": accuracy}

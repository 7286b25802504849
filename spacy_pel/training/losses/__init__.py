"""Losses over similarities: ``loss(positives (n,), negatives (n, m), mask (n, m)) -> (n,)``."""

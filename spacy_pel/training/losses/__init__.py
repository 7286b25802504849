"""Losses ``loss(positives (n,), negatives (n, m), mask (n, m)) -> (n,)`` of similarities, one a file."""

"""Training of the rankers."""

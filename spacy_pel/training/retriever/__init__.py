"""Training of the bi-encoder."""

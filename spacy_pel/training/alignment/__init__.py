"""Training a bi-encoder on names alone: names of one entity should be near each other."""

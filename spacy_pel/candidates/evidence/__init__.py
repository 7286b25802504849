"""The evidence for a candidate: near rows, names, priors and spelling."""

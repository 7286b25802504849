"""Training on some ontologies and testing on others."""

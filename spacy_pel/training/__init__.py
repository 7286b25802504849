"""Training a bi-encoder: settings, examples, batches, the loop."""

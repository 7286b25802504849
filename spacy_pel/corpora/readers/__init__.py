"""Corpus readers, one source format per file."""

"""Corpus readers, one source format a file."""

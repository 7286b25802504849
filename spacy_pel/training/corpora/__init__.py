"""Readers of corpora of research, and what is counted in and restored from corpora."""

"""Metrics, one measure a file."""

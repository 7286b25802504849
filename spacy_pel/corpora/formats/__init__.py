"""Formats of corpora and of linked documents, reader and writer side by side."""

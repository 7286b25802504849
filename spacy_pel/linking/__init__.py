"""From mentions in text to entities or NIL: encoder, index, combiner and NIL model at work."""

from .linker import Link, Linker, Reranker
from .query import MentionQuery, cut_window

__all__ = ["Link", "Linker", "MentionQuery", "Reranker", "cut_window"]

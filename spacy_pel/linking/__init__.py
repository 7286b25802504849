"""From mentions in text to entities or NIL: encoder, index, combiner and NIL model at work."""

from .linker import Link, Linker
from .query import MentionQuery, cut_window
from .reranker import Reranker

__all__ = ["Link", "Linker", "MentionQuery", "Reranker", "cut_window"]

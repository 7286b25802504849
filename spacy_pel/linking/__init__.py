"""From mentions in text to entities or NIL, with encoder, index, combiner and NIL model."""

from .linker import Link, Linker
from .query import EncodedQuery, MentionQuery, replace_mention
from .reranker import Reranker

__all__ = ["EncodedQuery", "Link", "Linker", "MentionQuery", "Reranker", "replace_mention"]

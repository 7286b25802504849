"""From mentions in text to entities or NIL, with encoder, index, combiner and NIL model."""

from .corrections import Correction, Learned, Memory
from .linker import Linker
from .query import Link, MentionQuery, make_queries, replace_mention
from .reranker import Reranker

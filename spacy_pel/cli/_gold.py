"""An annotated corpus as queries for a loaded pipeline."""

from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors, PelError
from ._output import message


class GoldMentions(NamedTuple):
    """The annotated mentions of a corpus.

    Attributes:
        documents: with mentions.
        queries: one for each mention, in order.
    """

    documents: list[Any]
    queries: list[Any]


def read_gold_mentions(nlp: Any, name: str, corpus: Path) -> GoldMentions:
    """Read a corpus.

    Args:
        nlp: a pipeline with a linker.
        name: of the linker's component.
        corpus: JSON lines.

    Raises:
        PelError: if it has no mentions.
    """
    from ..corpora import read_gold
    from ..pipeline.gold import query_maker

    make_queries = query_maker(nlp, name=name)
    documents = list(read_gold(corpus))
    queries = [query for document in documents for query in make_queries(document)]
    if not queries:
        raise PelError(Errors.E620)
    message(f"Finding candidates for {len(queries):,} mentions of {corpus}")
    return GoldMentions(documents, queries)

"""An annotated corpus as queries for a loaded pipeline."""

from pathlib import Path
from typing import Any

from ..errors import Errors, PelError
from ._output import message


def read_gold_mentions(nlp: Any, name: str, corpus: Path) -> tuple[list[Any], list[Any]]:
    """Read a corpus.

    Args:
        nlp: a pipeline with a linker.
        name: of the linker's component.
        corpus: JSON lines.

    Returns:
        The documents, and one query for each mention, in order.

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
    return documents, queries

"""Candidates that have the surface form itself among their names."""

from collections.abc import Sequence

import numpy as np

from ..kb import KnowledgeBase
from ..registry import registry
from ..types import Mask, Rows
from .name_generator import Found, NameGenerator, Search


@registry.pel_candidates("spacy-pel.AliasMatch.v1")
class AliasMatch(NameGenerator):
    """Entities that have the normalised surface form as a name (see ``util.normalize_alias``), each with the
    score 1, in the order of the knowledge base. It queries the knowledge base directly: nothing is built, and
    changes take effect at once.
    """

    registered_name = "spacy-pel.AliasMatch.v1"

    def searcher(self, kb: KnowledgeBase) -> Search:
        """Look up names."""

        def search(texts: Sequence[str], k: int, mask: Mask) -> list[Found]:
            matches = kb.rows_of_aliases(texts, normalized=True)
            if mask is not None:
                matches = [rows[mask[rows]] for rows in matches]
            return [Found(rows, np.ones(len(rows), np.float32)) for rows in matches]

        return search

    def add_entities(self, kb: KnowledgeBase, kb_rows: Rows) -> None:
        """Remember that the knowledge base changed."""
        self.build(kb)

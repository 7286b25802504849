"""Candidates that have the surface form itself among their names."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..registry import registry
from ..types import RankedRows, Rows
from ..util.ragged import offsets_of
from .generator_base import Mask
from .name_generator import NameGenerator, Search


@registry.pel_candidates("spacy-pel.AliasMatch.v1")
class AliasMatch(NameGenerator):
    """Entities that have the normalised surface form as a name (see ``util.normalize_alias``), each with the
    score 1, in the order of the knowledge base. It queries the knowledge base directly: nothing is built, and
    changes take effect at once.
    """

    registered_name = "spacy-pel.AliasMatch.v1"

    def searcher(self, kb: KnowledgeBase) -> Search:
        """Look up names."""

        def search(texts: Sequence[str], k: int, mask: Mask) -> tuple[RankedRows, NDArray[np.bool_]]:
            matches = kb.rows_of_aliases(texts, normalized=True)
            if mask is not None:
                matches = [rows[mask[rows]] for rows in matches]
            kb_rows = np.concatenate([np.zeros(0, np.int64), *matches])
            offsets = offsets_of(np.array([len(rows) for rows in matches], dtype=np.int64))
            return RankedRows(kb_rows, np.ones(len(kb_rows), np.float32), offsets), np.zeros(len(texts), np.bool_)

        return search

    def add_entities(self, kb: KnowledgeBase, kb_rows: Rows) -> None:
        """Remember that the knowledge base changed."""
        self.build(kb)

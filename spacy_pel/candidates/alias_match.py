"""Candidates that have the surface form itself among their names."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..registry import registry
from ..types import CandidateTable, MentionInText, RankedRows, Rows
from ..util import fingerprint, normalize_alias
from ..util.ragged import offsets_of
from .distinct_entities import Mask, find_entities
from .evidence.name_features import candidate_table
from .generator_base import GeneratorBase


@registry.pel_candidates("spacy-pel.AliasMatch.v1")
class AliasMatch(GeneratorBase):
    """Entities that have the normalised surface form as a name (see ``util.normalize_alias``), each with the
    score 1, in the order of the knowledge base. It queries the knowledge base directly: nothing is built, and
    changes take effect at once.
    """

    registered_name = "spacy-pel.AliasMatch.v1"

    @property
    def fingerprint(self) -> str:
        """Changes with the knowledge base that it was built from."""
        return fingerprint(self.registered_name, self._kb_fingerprint)

    def generate(
        self,
        kb: KnowledgeBase,
        mentions: Sequence[MentionInText],
        *,
        allowed: Sequence[Mask] | None = None,
        top_k: int = 64,
    ) -> CandidateTable:
        """ "name" and "exact" are 1."""

        def search(texts: Sequence[str], k: int, mask: Mask) -> tuple[RankedRows, NDArray[np.bool_]]:
            found = kb.rows_of_aliases(texts)
            if mask is not None:
                found = [rows[mask[rows]] for rows in found]
            kb_rows = np.concatenate([np.zeros(0, np.int64), *found])
            lengths = np.array([len(rows) for rows in found], dtype=np.int64)
            scores = np.ones(len(kb_rows), dtype=np.float32)
            return RankedRows(kb_rows, scores, offsets_of(lengths)), np.zeros(len(texts), dtype=np.bool_)

        ranked = find_entities(search, kb, mentions, fold=normalize_alias, allowed=allowed, top_k=top_k)
        return candidate_table(kb, ranked, mentions)

    def add_entities(self, kb: KnowledgeBase, kb_rows: Rows) -> None:
        """Remember that the knowledge base changed."""
        self.build(kb)

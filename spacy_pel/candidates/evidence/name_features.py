"""From ranked entities to the evidence that combiners, NIL models and rankers read."""

from collections.abc import Sequence

import numpy as np

from ...kb import KnowledgeBase
from ...types import CandidateTable, MentionInText, RankedRows
from ...util.ragged import owners
from .evidence import FEATURES, NAMED, name_matches
from .spelling import spelling
from .surface_forms import SurfaceForms


def candidate_table(kb: KnowledgeBase, ranked: RankedRows, mentions: Sequence[MentionInText]) -> CandidateTable:
    """Compute the FEATURES that need only names.

    Args:
        kb: the entities.
        ranked: found for the mentions.
        mentions: (n,).

    Returns:
        The same candidates in the same order. "name" is the generator's score,
        NAMED come from the KB's alias map, "edit" and "partial" from spelling; the features of annotated text
        and vectors are 0.
    """
    forms = SurfaceForms.of([mention.surface for mention in mentions])
    zeros = np.zeros(len(ranked.kb_rows), dtype=np.float32)
    features = {name: zeros.copy() for name in FEATURES}
    features["name"] = ranked.scores.astype(np.float32)
    own = owners(ranked.offsets) * kb.n_rows + ranked.kb_rows
    for name, found in zip(NAMED, name_matches(kb, forms), strict=True):
        features[name] = np.isin(own, found.mentions * kb.n_rows + found.kb_rows).astype(np.float32)
    table = CandidateTable(ranked.kb_rows, ranked.offsets, features)
    table.features.update(spelling(kb, forms, table))
    return table

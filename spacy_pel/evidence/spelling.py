"""How similar are the spellings of a mention's surface form and the names of its candidates?

Word pieces hide spelling: the towers place "carcinomas" and "sarcomas" nearly as close as
"carcinomas" and "carcinoma". RapidFuzz compares 3 million pairs of strings a second.
"""

from typing import Dict

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

from ..kb import KnowledgeBase
from ..types import CandidateTable, Scores
from ..util.ragged import take_pieces
from .surface_forms import SurfaceForms

_SCORERS = {"edit": (Indel.normalized_similarity, 1.0), "partial": (fuzz.partial_ratio, 100.0)}


def spelling(kb: KnowledgeBase, forms: SurfaceForms, table: CandidateTable) -> Dict[str, Scores]:
    """Compare normalised surface forms with the normalised names of their candidates.

    kb (KnowledgeBase): stores the names in normal form.
    forms (SurfaceForms): of the n mentions.
    table (CandidateTable): the m candidates of the n mentions.
    RETURNS (Dict[str, Scores]): "edit" and "partial", (m,) float32 in 0..1; the best name counts.
    """
    if not len(table.kb_rows):
        return {name: np.zeros(0, dtype=np.float32) for name in _SCORERS}
    mentions = np.repeat(np.arange(len(table.offsets) - 1), np.diff(table.offsets))
    # a surface form recurs in a corpus, with the same candidates
    n_rows = int(table.kb_rows.max()) + 1
    pairs, pair_of = np.unique(forms.which[mentions] * n_rows + table.kb_rows, return_inverse=True)
    form_of, row_of = np.divmod(pairs, n_rows)
    rows, entity_of = np.unique(row_of, return_inverse=True)
    names, pieces = kb.normalized_names_at(rows)
    counts = np.diff(pieces)[entity_of]
    queries = np.repeat(np.array(forms.distinct, dtype=object)[form_of], counts).tolist()
    choices = take_pieces(np.array(names, dtype=object), pieces, entity_of).tolist()
    named = counts > 0  # a retired entity has no names
    starts = (np.cumsum(counts) - counts)[named]
    found = {}
    for name, (scorer, top) in _SCORERS.items():
        alike = process.cpdist(queries, choices, scorer=scorer, dtype=np.float32)
        best = np.zeros(len(counts), dtype=np.float32)
        best[named] = np.maximum.reduceat(alike, starts)
        found[name] = (best / top)[pair_of].astype(np.float32)
    return found

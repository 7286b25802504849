"""How alike are the surface of a mention and the names of its candidates, letter by letter?

Word pieces hide spelling: the towers place "carcinomas" and "sarcomas" nearly as close as
"carcinomas" and "carcinoma". RapidFuzz compares 3 million pairs of strings a second.
"""

from itertools import chain
from typing import Dict, Sequence

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

from ..kb import KnowledgeBase
from ..types import CandidateTable, Scores
from ..util import normalize_alias
from ..util.ragged import offsets_of, owners

_SCORERS = {"edit": (Indel.normalized_similarity, 1.0), "partial": (fuzz.partial_ratio, 100.0)}


def spelling(kb: KnowledgeBase, surfaces: Sequence[str], table: CandidateTable) -> Dict[str, Scores]:
    """Compare normalised surfaces with the normalised names of their candidates.

    kb (KnowledgeBase): has the names.
    surfaces (Sequence[str]): (n,) texts of the mentions.
    table (CandidateTable): the m candidates of the n mentions.
    RETURNS (Dict[str, Scores]): "edit" and "partial", (m,) float32 in 0..1; the best name counts.
    """
    if not len(table.kb_rows):
        return {name: np.zeros(0, dtype=np.float32) for name in _SCORERS}
    distinct, which = np.unique([normalize_alias(surface) for surface in surfaces], return_inverse=True)
    # a surface comes many times in a corpus, with the same candidates
    keys = which[owners(table.offsets)] * kb.n_rows + table.kb_rows
    pairs, places = np.unique(keys, return_inverse=True)
    surface_of, row_of = np.divmod(pairs, kb.n_rows)
    rows, entity_of = np.unique(row_of, return_inverse=True)
    names = [list(dict.fromkeys(map(normalize_alias, names))) for names in kb.names_at(rows)]
    counts = np.array([len(own) for own in names], dtype=np.int64)[entity_of]
    queries = np.repeat(distinct[surface_of].astype(object), counts).tolist()
    choices = list(chain.from_iterable(names[entity] for entity in entity_of.tolist()))
    starts = offsets_of(counts)[:-1]
    found = {}
    for name, (scorer, top) in _SCORERS.items():
        alike = process.cpdist(queries, choices, scorer=scorer, dtype=np.float32)
        found[name] = (np.maximum.reduceat(alike, starts) / top)[places].astype(np.float32)
    return found

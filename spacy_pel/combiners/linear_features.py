"""What the linear combiner sees: columns made of the features of ``indexes/evidence.py``.

column          | made of                                   | why
----------------|-------------------------------------------|----------------------------------------------
name            | best cosine with a card or name           |
mention         | best cosine with an annotated mention     |
best            | the better of both                        | one good row is enough
has_mention     | 1 if a mention of it was found            | elsewhere "mention" is not its own
log_vote        | log(vote + 0.001)                         | many near mentions agree
exact           | 1 if the mention is one of its names      |
exact_unseen    | the same, for surfaces never annotated    | names say more where there are no counts
log_prior       | log(prior + 0.001)                        | counts are skewed
popularity_seen | log(1 + count), for surfaces annotated    | misleads where the surface is new
name_unseen     | name, for surfaces never annotated        | as exact_unseen
name_first      | 1 / (1 + rank by name)                    | the same cosine is a lot for one mention and
best_first      | 1 / (1 + rank by best)                    | little for another
edit            | spelling: similarity to its nearest name  | word pieces hide spelling
edit_unseen     | the same, for surfaces never annotated    | as exact_unseen
partial         | the same for the best stretch             | a name inside a longer mention, or around it
partial_unseen  | the same, for surfaces never annotated    | as exact_unseen
fused           | ranks of several generators, fused        | what they agree on; 0 of one generator alone
fused_first     | 1 / (1 + rank by fused)                   | as name_first

What is the same for all candidates of a mention, such as "seen", cannot change their order; it
only changes what other columns weigh.
"""

from typing import Dict

import numpy as np
from numpy.typing import NDArray

from ..types import FUSED, CandidateTable
from ..util.ragged import segment_rank
from .best_row import best_row

_EPSILON = 1e-3

DEFAULT_WEIGHTS = {
    "name": 5.0,
    "mention": 0.0,
    "best": 15.0,
    "has_mention": 0.0,
    "log_vote": 0.3,
    "exact": 0.5,
    "exact_unseen": 1.5,
    "log_prior": 0.7,
    "popularity_seen": 0.2,
    "name_unseen": 5.0,
    "name_first": 0.3,
    "best_first": 0.3,
    "edit": 1.0,
    "edit_unseen": 1.0,
    "partial": 1.0,
    "partial_unseen": 0.0,
    "fused": 0.0,
    "fused_first": 0.0,
}


def columns(table: CandidateTable) -> Dict[str, NDArray[np.float64]]:
    """RETURNS (Dict[str, NDArray]): (m,) columns by name, those of DEFAULT_WEIGHTS in their order."""
    wide = {name: values.astype(np.float64) for name, values in table.features.items()}
    best = best_row(table).astype(np.float64)
    unseen = 1.0 - wide["seen"]
    fused = wide.get(FUSED, np.zeros(len(best)))
    return {
        "name": wide["name"],
        "mention": wide["mention"],
        "best": best,
        "has_mention": (wide["vote"] > 0).astype(np.float64),
        "log_vote": np.log(wide["vote"] + _EPSILON),
        "exact": wide["exact"],
        "exact_unseen": wide["exact"] * unseen,
        "log_prior": np.log(wide["prior"] + _EPSILON),
        "popularity_seen": wide["popularity"] * wide["seen"],
        "name_unseen": wide["name"] * unseen,
        "name_first": 1.0 / (1.0 + segment_rank(wide["name"], table.offsets)),
        "best_first": 1.0 / (1.0 + segment_rank(best, table.offsets)),
        "edit": wide["edit"],
        "edit_unseen": wide["edit"] * unseen,
        "partial": wide["partial"],
        "partial_unseen": wide["partial"] * unseen,
        "fused": fused,
        "fused_first": 1.0 / (1.0 + segment_rank(fused, table.offsets)) if FUSED in wide else fused,
    }

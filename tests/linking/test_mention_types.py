"""Types that a detector gives to mentions, as evidence."""

import numpy as np
import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.linking.mention_types import labels_after_linking, type_shares
from spacy_pel.types import MENTION_TYPE, CandidateTable, Entity
from spacy_pel.types.semantic_types import ST21PV

KB = KnowledgeBase(
    [
        Entity("C1", "cold", types=("T047",)),  # a descendant of T038
        Entity("C2", "cold temperature", types=("T070",)),  # outside ST21pv
        Entity("C3", "cold pack", types=("T074", "T103")),
        Entity("C4", "cold (untyped)"),
    ]
)
ROWS = np.array([[0, 1, 2, 3, -1]])


def query(**types):
    shares = np.zeros(len(ST21PV), dtype=np.float32)
    for tui, share in types.items():
        shares[list(ST21PV).index(tui)] = share
    return MentionQuery("cold", 0, 4, types=shares if types else None)


def test_shares_are_summed_over_the_types_of_a_candidate():
    shares = type_shares(KB, [query(T038=0.6, T074=0.1, T103=0.2)], CandidateTable(ROWS, {}))
    mean = (0.6 + 0.3) / 2  # of the candidates with types
    assert shares[0, :4].tolist() == pytest.approx([0.6, mean, 0.3, mean])


def test_mentions_without_types_stay_neutral():
    assert type_shares(KB, [query()], CandidateTable(ROWS, {})) is None
    shares = type_shares(KB, [query(), query(T038=1.0)], CandidateTable(np.repeat(ROWS, 2, axis=0), {}))
    assert shares[0].tolist() == [1.0] * 5 and shares[1, 0] == 1.0


def test_a_changed_entity_has_its_new_type():
    kb = KnowledgeBase([Entity("C1", "cold", types=("T047",))])
    table = CandidateTable(np.array([[0]]), {})
    assert type_shares(kb, [query(T103=0.7)], table)[0, 0] == 0.0
    kb.put([Entity("C1", "cold", types=("T121",))])
    assert type_shares(kb, [query(T103=0.7)], table)[0, 0] == pytest.approx(0.7)


def test_the_likelier_type_ranks_first():
    features = dict.fromkeys(("name", "mention", "vote", "exact", "prior", "seen", "popularity", "edit", "partial"))
    table = CandidateTable(ROWS[:, :3], {name: np.zeros((1, 3), np.float32) for name in features})
    combiner = LinearCombiner()
    combiner.weights = {name: float(name == "log_mention_type") for name in combiner.weights}
    scores = combiner(table.plus({MENTION_TYPE: type_shares(KB, [query(T038=0.2, T074=0.7)], table)}))
    assert scores.argmax() == 2 and np.ptp(combiner(table)) == 0


def test_labels_mix_what_detector_and_candidates_say():
    shares = np.array([[0.6, 0.0, 0.4, 0.0, 0.0]])
    labels = labels_after_linking(KB, [query(T103=0.9)], ROWS, shares)
    assert labels == ["BIOLOGIC_FUNCTION"]  # 0.7 * 0.6 against 0.3 * 0.9 + 0.7 * 0.4 / 2 = 0.41
    assert labels_after_linking(KB, [query(T103=1.0)], ROWS, shares) == ["CHEMICAL"]
    assert labels_after_linking(KB, [query(T204=0.6)], np.full((1, 5), -1), np.zeros((1, 5))) == ["EUKARYOTE"]
    assert labels_after_linking(KB, [query()], ROWS, shares) == [None]

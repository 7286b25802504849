"""The track record of first candidates: counts, features, and that they are computed out of fold."""

import json
from collections import Counter

import numpy as np
import pytest

from spacy_pel.candidates.evidence import NAMED
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.linking.calibration import count_outcomes, fit
from spacy_pel.linking.explanation import explain
from spacy_pel.linking.nil import LogisticNil, NetworkNil
from spacy_pel.linking.track_record import FEATURES, TrackRecord
from spacy_pel.types import Entity

from .annotated import examples as annotated_examples
from .annotated import tfidf_linker
from .tables import table_of

pytestmark = pytest.mark.slow

NAMES = ["fever", "measles", "asthma", "cholera"]


def make_kb(names=NAMES, **settings):
    return KnowledgeBase([Entity(name.upper(), name, ()) for name in names], **settings)


def examples(linker, answers):
    """One document a mention: (surface, id)."""
    queries = [MentionQuery(f"about {one} and more", 6, 6 + len(one)) for one, _ in answers]
    documents = [f"doc{number}" for number in range(len(answers))]
    return annotated_examples(linker, queries, [(one,) for _, one in answers], documents)


def of_candidates(record, rows, kb=None):
    """Of one mention."""
    found = record.added_to(table_of([rows]), make_kb() if kb is None else kb, ["x"]).features
    return {name: values[0] for name, values in found.items()}


def log_odds(hits, n, share):
    share = (hits + 3 * share) / (n + 3)
    return np.log(share / (1 - share))


def test_features_by_hand():
    record = TrackRecord(["ASTHMA", "FEVER", "GONE"], np.array([[6, 5, 1], [10, 2, 7], [2, 0, 1]]))
    found = of_candidates(record, [0, 1, 2])
    right, nil = 8 / 20, 10 / 20  # of all, with one more mention of each kind
    np.testing.assert_allclose(found["record_first"], np.log([11, 1, 7]), rtol=1e-6)
    np.testing.assert_allclose(
        found["record_right"], [log_odds(2, 10, right), log_odds(0, 0, right), log_odds(5, 6, right)], rtol=1e-5
    )
    np.testing.assert_allclose(
        found["record_nil"], [log_odds(7, 10, nil), log_odds(0, 0, nil), log_odds(1, 6, nil)], rtol=1e-5
    )
    again = TrackRecord.from_state(json.loads(json.dumps(record.state())))
    assert again.state() == record.state()
    empty = of_candidates(TrackRecord.of(Counter()), [0, 3])
    assert empty["record_first"].tolist() == [0, 0] and set(empty["record_right"].tolist()) == {0}
    assert len(of_candidates(record, [])) == 3, "a mention without candidates"


def test_it_follows_changes_of_the_knowledge_base():
    record = TrackRecord(["ASTHMA", "FEVER"], np.array([[6, 5, 1], [10, 2, 7]]))
    kb = make_kb()
    assert of_candidates(record, [1, 2], kb)["record_first"].tolist() == pytest.approx(np.log([1, 7]))
    kb.retire(["FEVER"], {"FEVER": "MEASLES"})
    assert of_candidates(record, [1, 2], kb)["record_first"].tolist() == pytest.approx(np.log([11, 7]))
    (row,) = kb.put([Entity("NEW", "typhus", ())])
    assert of_candidates(record, [int(row)], kb)["record_first"].tolist() == [0]


def test_counts_of_the_other_parts_and_of_all():
    """Each part has rows of its own."""
    linkers = [tfidf_linker(make_kb(), LogisticNil()), tfidf_linker(make_kb(NAMES[::-1]), LogisticNil())]
    answers = [
        [("fever", "FEVER"), ("fever", "FEVER"), ("asthma", "ASTHMA")],
        [("fevers", "OTHER"), ("asthma", "ASTHMA"), ("asthma", "MEASLES")],
    ]
    parts = [examples(linker, each) for linker, each in zip(linkers, answers, strict=True)]
    scores = [linker.decider.combiner(part.table) for linker, part in zip(linkers, parts, strict=True)]
    record, table = count_outcomes(parts, scores)
    features, of_mentions = table.features, table.of_mentions
    state = record.state()
    assert state.pop("surfaces") == record.surfaces.state() and record.surfaces.total == (6, 1)
    assert state == {"ids": ["ASTHMA", "FEVER"], "first": [3, 3], "right": [2, 2], "nil": [0, 1]}
    assert set(features) >= set(FEATURES)
    # words need two parts, and for either part there is one other
    assert set(of_mentions["last_word_seen"].tolist()) == {0}
    assert set(record.surfaces.counts["last_word"]) == {"asthma"}
    first = [0, 2], scores[0].argmax(axis=1)[[0, 2]]
    assert features["record_first"][first].tolist() == pytest.approx(np.log([2, 3]))  # as in the second part
    share = (1 + 1) / (3 + 2)
    assert features["record_nil"][first].tolist() == pytest.approx([log_odds(1, 1, share), log_odds(0, 2, share)])


def test_counts_are_computed_out_of_fold():
    linker = tfidf_linker(make_kb(), LogisticNil())
    answers = [("fever", "FEVER"), ("measles", "MEASLES")] * 10
    part = examples(linker, answers)
    _, before = count_outcomes([part], [linker.decider.combiner(part.table)])
    part.gold[3] = np.zeros(0, dtype=np.int64)  # NIL
    _, after = count_outcomes([part], [linker.decider.combiner(part.table)])
    for name in ("record_right", "record_nil"):
        unchanged = before.features[name] == after.features[name]
        assert unchanged[3].all() and not unchanged[5].all()
    for name in ("first_word_nil", "last_word_nil", "ending_nil"):
        assert before.of_mentions[name][3] == after.of_mentions[name][3]
        assert before.of_mentions[name][5] < after.of_mentions[name][5]


def test_the_network_learns_which_entity_stands_in_for_others():
    """Mentions of aaaa are NIL half of the time: nothing else tells them from the others."""
    answers = [("aaaa", "AAAA"), ("aaaa", "OTHER"), ("bbbb", "BBBB"), ("bbbb", "BBBB")] * 25
    found = {}
    for with_record in (False, True):
        linker = tfidf_linker(make_kb(["aaaa", "bbbb"]), NetworkNil(epochs=40, track_record=with_record))
        links = fit(linker, [examples(linker, answers)])
        found[with_record] = [links[0].nil_score, links[2].nil_score]
        again = tfidf_linker(make_kb(["bbbb", "aaaa"]), NetworkNil(track_record=with_record))
        again.decider.combiner.load_state(linker.decider.combiner.state())
        again.decider.nil_model.load_state(json.loads(json.dumps(linker.decider.nil_model.state())))
        queries = [MentionQuery(one, 0, len(one)) for one in ("aaaa", "bbbb")]
        assert [link.nil_score for link in again.link(queries)] == pytest.approx(
            [link.nil_score for link in linker.link(queries)], abs=1e-5
        )
    assert found[True][0] > 0.4 and found[True][1] < 0.1
    assert abs(found[False][0] - found[False][1]) < 0.2


def test_text_without_nil_leaves_p_nil_as_it_was():
    """The networks of before read the record in what ``calibrate`` reports, as they do in ``link``."""
    answers = [("aaaa", "AAAA"), ("aaaa", "OTHER"), ("bbbb", "BBBB"), ("bbbb", "BBBB")] * 25
    linker = tfidf_linker(make_kb(["aaaa", "bbbb"]), NetworkNil(epochs=40))
    fit(linker, [examples(linker, answers)])
    reported = fit(linker, [examples(linker, [("aaaa", "AAAA"), ("bbbb", "BBBB")] * 2)])
    queries = [MentionQuery(f"about {one} and more", 6, 10) for one in ("aaaa", "bbbb")] * 2
    assert [one.nil_score for one in reported] == pytest.approx(
        [one.nil_score for one in linker.link(queries)], abs=1e-5
    )


def test_an_explanation_tells_the_record_of_the_first_candidate():
    kb = make_kb()
    linker = tfidf_linker(kb, NetworkNil(epochs=1, directions=0))
    query = MentionQuery("about fever and more", 6, 11)
    assert explain(linker, query).record == {"first": 0, "right": 0, "nil": 0}
    linker.decider.nil_model.record = TrackRecord(["FEVER"], np.array([[1200, 7, 4]]))
    found = explain(linker, query)
    assert found.record == {"first": 1200, "right": 7, "nil": 4}
    assert "first 1,200, right 7, NIL 4" in str(found)
    assert explain(linker, MentionQuery("qqq", 0, 3)).record is None  # no candidates


def test_an_explanation_says_how_a_candidate_is_named():
    linker = tfidf_linker(make_kb(["fever", "nucleus", "ethanol"]), LogisticNil())
    kinds = {"fever": "exact", "EtOH": "formula", "fevers": "variant", "nuclear": "derivation", "feverr": ""}
    for word, named in kinds.items():
        text = str(explain(linker, MentionQuery(word, 0, len(word))))
        assert ("named by" in text) == bool(named)
        assert [one for one in NAMED if f" {one} " in text.split("evidence for")[0]] == ([named] if named else [])

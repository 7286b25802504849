"""What became of mentions with the same words, and how a mention is written."""

from collections import Counter

import numpy as np
import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.linking.nil import NetworkNil
from spacy_pel.linking.track_record import KINDS, SHAPE, WORD_FEATURES, SurfaceRecord
from spacy_pel.types import Entity

from .annotated import fit_mentions, tfidf_linker
from .test_track_record import log_odds

MENTIONS = [  # form, NIL, text
    ("pain score", True, 0),
    ("pain score", True, 0),
    ("risk score", True, 1),
    ("knee pain", False, 0),
    ("pain", False, 2),
    ("lone", True, 3),
    ("lone", True, 3),  # of a single text
]


def test_features_by_hand():
    record = SurfaceRecord.of(Counter(MENTIONS))
    assert record.counts == {
        "first_word": {"pain": (3, 2)},
        "last_word": {"pain": (2, 0), "score": (3, 3)},
        "ending": {"core": (3, 3), "pain": (2, 0)},
    }
    assert record.total == (7, 5)
    found = record.features(["Pain scores", "stroke SCORE", "x"])
    share = 6 / 9
    nothing = log_odds(0, 0, share)
    assert found["first_word_nil"].tolist() == pytest.approx([log_odds(2, 3, share), nothing, nothing])
    assert found["first_word_seen"].tolist() == pytest.approx(np.log([4, 1, 1]))
    assert found["last_word_nil"].tolist() == pytest.approx([nothing, log_odds(3, 3, share), nothing])
    assert found["ending_nil"].tolist() == pytest.approx([nothing, log_odds(3, 3, share), nothing])
    assert set(found) == set(WORD_FEATURES)


def test_shape():
    found = SurfaceRecord.of(Counter()).features(["Crohn's disease", "IL-2", "p 53", "--", ""])
    assert [found[name].tolist() for name in SHAPE] == [
        [15, 4, 4, 2, 0],
        [2, 1, 2, 1, 0],
        [0, 1, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 1, 1, 0, 0],
    ]
    assert all(found[f"{kind}_nil"].tolist() == [0] * 5 for kind in KINDS)  # no mentions: NIL or not
    assert [values.shape for values in SurfaceRecord.of(Counter()).features([]).values()] == [(0,)] * len(WORD_FEATURES)


@pytest.mark.slow
def test_the_network_learns_which_words_are_nil():
    """What the names of the candidates say of "thing score" and "thing ulcer" is the same."""
    answers = []
    for number in range(60):
        for word, entity in (("score", "OTHER"), ("ulcer", f"E{number}")):
            answers.append((f"thing{number} {word}", entity))
    found = {}
    for with_record in (False, True):
        kb = KnowledgeBase([Entity(f"E{number}", f"thing{number}") for number in range(60)])
        linker = tfidf_linker(kb, NetworkNil(epochs=40, directions=0, track_record=with_record))
        queries = [MentionQuery(text, 0, len(text)) for text, _ in answers]
        documents = [f"doc{number}" for number in range(len(answers))]
        fit_mentions(linker, queries, [(one,) for _, one in answers], documents)
        asked = [MentionQuery(text, 0, len(text)) for text in ("thing7 score", "thing7 ulcer")]
        score, ulcer = (link.nil_score for link in linker.link(asked))
        found[with_record] = score - ulcer
    assert found[True] > 0.5 and abs(found[False]) < 0.1

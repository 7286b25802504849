"""The retrieval by vectors as a generator: what the index gives, for distinct mentions."""

import numpy as np
import pytest

from spacy_pel.candidates.bi_encoder import BiEncoderCandidates
from spacy_pel.candidates.evidence import find_candidates
from spacy_pel.types import MentionInText

from .conftest import mentions_of

MENTIONS = mentions_of("Heart attack", "renal failure", "Heart attack", "cold")


@pytest.fixture
def bound(kb, encoder, make_index):
    generator = BiEncoderCandidates()
    generator.bind(encoder, make_index(kb))
    return generator


def test_candidates_are_those_of_the_index(kb, encoder, make_index, bound):
    surfaces = [mention.surface for mention in MENTIONS]
    for top_k, row_k in ((4, 384), (200, 1200)):
        table = bound.find_candidates(kb, MENTIONS, top_k=top_k)
        vectors = encoder.encode_mentions(MENTIONS)
        expected = find_candidates(kb, make_index(kb), vectors, surfaces, row_k=row_k, top_k=top_k)
        assert table.kb_rows.tolist() == expected.kb_rows.tolist()
        np.testing.assert_array_equal(table.vectors, vectors)
        for name, values in expected.features.items():
            np.testing.assert_array_equal(table.features[name], values)


def test_each_distinct_mention_is_encoded_once(kb, encoder, make_index):
    asked = []

    class Counting:
        width = encoder.width

        def encode_mentions(self, mentions):
            asked.append(list(mentions))
            return encoder.encode_mentions(mentions)

    generator = BiEncoderCandidates()
    generator.bind(Counting(), make_index(kb))
    elsewhere = MentionInText("Heart attack, again.", 0, 12)
    generator.find_candidates(kb, [*MENTIONS, elsewhere])
    assert asked == [[*mentions_of("Heart attack", "renal failure", "cold"), elsewhere]]
    assert len(generator.find_candidates(kb, [])) == 0

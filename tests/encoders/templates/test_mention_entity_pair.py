"""[mention input ; entity input], to the word piece."""

import numpy as np
import pytest

from spacy_pel.encoders.templates import EntityCard, MarkedContext
from spacy_pel.encoders.token_arrays import RaggedTokens
from spacy_pel.errors import PelError
from spacy_pel.training.ranker.mention_entity_pair import MentionEntityPair
from spacy_pel.types import Entity, MentionInText

MENTIONS = [MentionInText("pain in the heart of a", 12, 17), MentionInText("fever", 0, 5)]
ENTITIES = [Entity("C1", "heart attack", (), ("a",), "pain in the kidney"), Entity("C2", "fever")]


def words(tokenizer, tokens, row):
    return tokenizer.convert_ids_to_tokens(tokens[row].tolist())


def pairs(tokenizer, mention_rows, entity_rows, **settings):
    template = MentionEntityPair(**settings)
    return template.tokenize(tokenizer, MENTIONS, ENTITIES, np.array(mention_rows), np.array(entity_rows))


def test_mention_then_entity_without_its_cls(tokenizer):
    tokens = pairs(tokenizer, [0, 1, 0], [1, 0, 0], max_length=64)
    mention = ["[CLS]", "pain", "in", "the", "[M_s]", "heart", "[M_e]", "of", "a", "[SEP]"]
    assert words(tokenizer, tokens, 0) == [*mention, "fever", "[SEP]"]
    card = ["heart", "attack", "[SEP]", "a", "[SEP]", "pain", "in", "the", "kidney", "[SEP]"]
    assert words(tokenizer, tokens, 1) == ["[CLS]", "[M_s]", "fever", "[M_e]", "[SEP]", *card]
    assert words(tokenizer, tokens, 2) == [*mention, *card]


def test_the_entity_gets_what_the_mention_leaves(tokenizer):
    settings = {"max_length": 16, "mention_template": MarkedContext(max_length=8)}
    tokens = pairs(tokenizer, [0, 1], [0, 0], **settings)
    assert words(tokenizer, tokens, 0) == [
        *("[CLS]", "the", "[M_s]", "heart", "[M_e]", "of", "a", "[SEP]"),
        *("heart", "attack", "[SEP]", "a", "[SEP]", "pain", "in", "[SEP]"),
    ]
    # a shorter mention leaves more room
    assert words(tokenizer, tokens, 1)[5:] == [
        *("heart", "attack", "[SEP]", "a", "[SEP]", "pain", "in", "the", "kidney", "[SEP]")
    ]


def test_no_pair_is_longer_than_the_limit_and_all_end_with_sep(tokenizer):
    rng = np.random.default_rng(0)
    mentions = RaggedTokens.from_lists([[2, *rng.integers(5, 9, n), 3] for n in range(0, 30, 3)])
    entities = RaggedTokens.from_lists([[2, *rng.integers(5, 9, n), 3] for n in range(1, 80, 7)])
    first, second = rng.integers(len(mentions), size=200), rng.integers(len(entities), size=200)
    template = MentionEntityPair(max_length=40, mention_template=MarkedContext(max_length=32))
    joined = template.join(mentions, entities, first, second)
    for i in range(200):  # a literal transcription
        whole = [*mentions[first[i]], *entities[second[i]][1:]]
        expected = whole if len(whole) <= 40 else [*whole[:39], 3]
        assert joined[i].tolist() == expected


def test_settings_come_back():
    made = MentionEntityPair(
        max_length=50,
        mention_template=MarkedContext(max_length=20, start_marker="<"),
        entity_template=EntityCard(max_length=9, max_synonyms=3),
    )
    again = MentionEntityPair.from_settings(made.settings)
    assert again.settings == made.settings and again.special_tokens == ["<", "[M_e]"]
    assert again.entity_template.max_synonyms == 3


def test_a_length_without_room_for_an_entity_is_refused():
    with pytest.raises(PelError, match="PEL-E301"):
        MentionEntityPair(max_length=39, mention_template=MarkedContext(max_length=32))
    with pytest.raises(PelError, match="PEL-E301"):
        MentionEntityPair(max_length=15)

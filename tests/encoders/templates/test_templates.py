"""Templates: what each side reads, to the word piece; a contract for every registered template."""

import pytest

from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.encoders.templates import EntityCard, EntityTemplate, GeneralCard, MarkedContext
from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.types import Entity, MentionInText

WORDS = ["the", "a", "of", "in", "fever", "pain", "left", "right"]


def words(tokenizer, tokens, row=0):
    return tokenizer.convert_ids_to_tokens(tokens[row].tolist())


def mention_in(left, surface, right):
    text = " ".join([*left, surface, *right])
    start = len(" ".join(left)) + bool(left)
    return MentionInText(text, start, start + len(surface))


def read_mention(tokenizer, left, surface, right, max_length):
    mention = mention_in(left, surface, right)
    assert mention.surface == surface
    return words(tokenizer, MarkedContext(max_length=max_length).tokenize(tokenizer, [mention]))


# -- marked context ---------------------------------------------------------------------------


def test_mention_is_marked_in_its_context(tokenizer):
    read = read_mention(tokenizer, ["pain", "in", "the"], "heart", ["of", "a"], 128)
    assert read == ["[CLS]", "pain", "in", "the", "[M_s]", "heart", "[M_e]", "of", "a", "[SEP]"]


def test_context_is_cut_evenly(tokenizer):
    # 12 pieces: 4 special, 2 of the mention, 3 on each side; an odd piece of room goes to the right
    read = read_mention(tokenizer, WORDS, "heart attack", WORDS, 12)
    assert read == [
        *("[CLS]", "pain", "left", "right", "[M_s]", "heart", "attack", "[M_e]"),
        *("the", "a", "of", "[SEP]"),
    ]
    read = read_mention(tokenizer, WORDS, "heart", WORDS, 12)
    assert read == [*("[CLS]", "pain", "left", "right", "[M_s]", "heart", "[M_e]"), *("the", "a", "of", "in", "[SEP]")]
    tokens = MarkedContext().tokenize(tokenizer, [MentionInText("", 0, 0), MentionInText("a  of", 2, 3)])
    assert words(tokenizer, tokens, 0) == ["[CLS]", "[M_s]", "[M_e]", "[SEP]"]
    assert words(tokenizer, tokens, 1) == ["[CLS]", "a", "[M_s]", "[M_e]", "of", "[SEP]"]


@pytest.mark.parametrize(("left", "right"), [(1, 8), (8, 1), (0, 8), (8, 0)])
def test_room_that_one_side_leaves_goes_to_the_other(tokenizer, left, right):
    read = read_mention(tokenizer, WORDS[:left], "heart attack", WORDS[:right], 12)
    n_left = read.index("[M_s]") - 1
    n_right = len(read) - read.index("[M_e]") - 2
    assert len(read) == 12
    assert (n_left, n_right) == ((left, 6 - left) if left < right else (6 - right, right))


def test_a_mention_is_cut_only_where_it_is_too_long_alone(tokenizer):
    whole = " ".join(WORDS)
    read = read_mention(tokenizer, WORDS, whole, WORDS, 12)
    assert read == ["[CLS]", "[M_s]", *WORDS, "[M_e]", "[SEP]"]
    read = read_mention(tokenizer, WORDS, whole + " heart", WORDS, 12)
    assert read == ["[CLS]", "[M_s]", *WORDS, "[M_e]", "[SEP]"]


def test_a_window_of_a_long_text_holds_what_the_whole_text_would_give(tokenizer):
    # far more characters than the template looks at, cut between words
    left, right = WORDS * 500, WORDS[::-1] * 500
    near = read_mention(tokenizer, left[-64:], "heart", right[:64], 64)
    assert read_mention(tokenizer, left, "heart", right, 64) == near


def test_special_tokens_written_in_a_text_are_only_text(tokenizer):
    read = read_mention(tokenizer, ["a", "[SEP]", "[M_e]"], "heart", ["[MASK]", "of"], 128)
    assert [piece for piece in read if piece in tokenizer.all_special_tokens] == [*("[CLS]", "[M_s]", "[M_e]", "[SEP]")]


# -- cards --------------------------------------------------------------------------------------

HEART = Entity("C1", "heart attack", ("pain", "heart attack", "left pain", "fever"), ("a", "of"), "pain in the heart")
UNDEFINED = Entity("C1", "heart attack", ("heart attack", "pain", "left pain", "fever"), ("a",))
LONG = Entity("C1", "fever", ("left pain", "right pain"), ("a",), "pain " * 5000)


@pytest.mark.parametrize(
    ("template", "settings", "entity", "expected"),
    [
        (EntityCard, {}, HEART, "heart attack [SEP] a , of [SEP] pain in the heart"),
        (EntityCard, {"max_synonyms": 2}, UNDEFINED, "heart attack [SEP] a [SEP] pain ; left pain"),
        (EntityCard, {}, Entity("C1", "fever", (), (), "pain"), "fever [SEP] pain"),
        (EntityCard, {"max_length": 8}, LONG, "fever [SEP] a [SEP] pain pain"),
        (GeneralCard, {}, HEART, "heart attack [ENT] pain in the heart"),
        (GeneralCard, {}, Entity("C1", "fever", ("pain",), ("a",)), "fever"),
    ],
)
def test_cards(tokenizer, template, settings, entity, expected):
    tokens = template(**settings).tokenize(tokenizer, [entity])
    assert words(tokenizer, tokens) == ["[CLS]", *expected.split(), "[SEP]"]


def test_a_marker_written_in_a_page_is_only_text(tokenizer):
    entity = Entity("C1", "fever [ENT]", (), (), "[SEP] pain [ENT]")
    read = words(tokenizer, GeneralCard().tokenize(tokenizer, [entity]))
    assert [piece for piece in read if piece in tokenizer.all_special_tokens] == ["[CLS]", "[ENT]", "[SEP]"]


def test_names(tokenizer):
    tokens = EntityCard(max_length=8).tokenize_names(tokenizer, ["heart attack", "", "pain " * 20])
    assert words(tokenizer, tokens, 0) == ["[CLS]", "heart", "attack", "[SEP]"]
    assert words(tokenizer, tokens, 1) == ["[CLS]", "[SEP]"]
    assert words(tokenizer, tokens, 2) == ["[CLS]", *["pain"] * 6, "[SEP]"]


# -- in an encoder ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["EntityCard", "GeneralCard"])
def test_an_encoder_of_a_config_reads_it_and_keeps_it(name, tmp_path):
    from spacy.util import registry as spacy_registry

    config = {
        "@pel_encoders": "spacy-pel.BiEncoder.v1",
        "name": "random:layers=1,width=32",
        "entity_template": {"@pel_templates": f"spacy-pel.{name}.v1", "max_length": 16},
    }
    encoder = spacy_registry.resolve({"encoder": config})["encoder"]
    assert isinstance(encoder.entity_template, EntityTemplate)
    encoder.initialize()
    vocabulary = encoder.tokenizer.get_vocab()
    assert all(token in vocabulary for token in encoder.entity_template.special_tokens)
    assert len(vocabulary) == encoder.tower("entity").transformer.get_input_embeddings().num_embeddings
    entity = Entity("C1", "fever", ("heat",), ("a",), "of the left kidney")
    vectors = encoder.encode_entities([entity])
    encoder.to_disk(tmp_path / "model")
    again = load_encoder(tmp_path / "model")
    assert type(again.entity_template).__name__ == name and again.fingerprint == encoder.fingerprint
    assert again.encode_entities([entity]) == pytest.approx(vectors, abs=1e-5)
    assert again.encode_names(["fever"]) == pytest.approx(encoder.encode_names(["fever"]), abs=1e-5)


# -- every registered template ------------------------------------------------------------------

ITEMS = {
    "tokenize": [
        MentionInText("heart attack of the left kidney " * 40, 640, 652),
        MentionInText("fever", 0, 5),
        MentionInText("🫀 ßé\u202e", 0, 1),
    ],
    "entities": [
        Entity("C1", "heart attack " * 40, ("pain", "fever " * 40), ("a",), "of the left kidney " * 40),
        Entity("C2", "fever"),
        Entity("C3", "🫀", ("ß",)),
    ],
}


@pytest.fixture(params=sorted(registry.parts("pel_templates").values()))
def template(request):
    return registry.pel_templates.get(request.param)


def items_for(template):
    return ITEMS["entities"] if hasattr(template, "tokenize_names") else ITEMS["tokenize"]


def test_contract_length_and_frame(template, tokenizer):
    for max_length in (8, 16, 100):
        made = template(max_length=max_length)
        tokens = made.tokenize(tokenizer, items_for(made))
        assert len(tokens) == 3
        assert tokens.lengths.max() == max_length
        for row in range(3):
            assert tokens[row][0] == tokenizer.cls_token_id
            assert tokens[row][-1] == tokenizer.sep_token_id
            assert tokenizer.pad_token_id not in tokens[row]


def test_contract_one_by_one_is_the_same(template, tokenizer):
    made = template()
    items = items_for(made)
    together = made.tokenize(tokenizer, items)
    for row, item in enumerate(items):
        assert together[row].tolist() == made.tokenize(tokenizer, [item])[0].tolist()
    assert len(made.tokenize(tokenizer, [])) == 0


def test_contract_a_length_without_room_is_refused(template):
    with pytest.raises(PelError, match="max_length"):
        template(max_length=7)

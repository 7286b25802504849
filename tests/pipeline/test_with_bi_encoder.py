"""The component with an encoder that has weights: a random transformer of one layer."""

import pickle
import string

import pytest
import spacy

from spacy_pel.errors import PelError
from spacy_pel.pipeline.linker_data import update_linker_folder

from .conftest import NAME, PHRASES, TEXTS, links


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    path = tmp_path_factory.mktemp("model")
    letters = [*string.ascii_lowercase, *string.punctuation, *string.digits]
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
    (path / "vocab.txt").write_text("\n".join(vocab), encoding="utf8")
    BertTokenizerFast(str(path / "vocab.txt"), do_lower_case=True).save_pretrained(path)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(vocab), **sizes)).save_pretrained(path)
    return path


@pytest.fixture
def nlp(make_nlp, model_path):
    return make_nlp(encoder={"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(model_path)})


@pytest.fixture
def blank(make_nlp, model_path):
    """Knows where other weights are, and has not loaded them."""
    encoder = {"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(model_path), "tied": True}
    return make_nlp(encoder=encoder)


def test_round_trips(nlp, blank, tmp_path):
    expected = [links(doc) for doc in nlp.pipe(TEXTS)]
    assert any(expected)
    nlp.to_disk(tmp_path / "pipeline")
    assert [links(doc) for doc in spacy.load(tmp_path / "pipeline").pipe(TEXTS)] == expected
    assert [links(doc) for doc in pickle.loads(pickle.dumps(nlp)).pipe(TEXTS)] == expected
    assert [links(doc) for doc in blank.from_bytes(nlp.to_bytes()).pipe(TEXTS)] == expected


def test_links_do_not_depend_on_batches(make_nlp, model_path):
    """Ids and their order are the same; scores up to what rounding in another order changes."""
    backend = {"@pel_backends": "spacy-pel.TorchBackend.v1", "precision": "float32"}
    encoder = {"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(model_path), "backend": backend}
    nlp = make_nlp(encoder=encoder, threshold=0.6)
    words = [phrase for _, phrase in PHRASES]
    texts = [
        " ".join(["It was"] * (number % 5) + [words[(number * step) % len(words)] for step in (1, 2, 3)])
        for number in range(60)
    ]
    alone = [list(nlp(text).ents) for text in texts]
    assert sum(map(len, alone)) > 150 and len({ent.kb_id_ for ents in alone for ent in ents}) > 3
    for batch_size in (1, 7, 60):
        for ents, doc in zip(alone, nlp.pipe(texts, batch_size=batch_size), strict=True):
            for one, other in zip(ents, doc.ents, strict=True):
                assert (one.text, one.kb_id_) == (other.text, other.kb_id_)
                ids, scores = zip(*one._.pel_candidates, strict=True)
                other_ids, other_scores = zip(*other._.pel_candidates, strict=True)
                assert ids == other_ids and scores == pytest.approx(other_scores, abs=1e-5)
                assert one._.pel_nil_score == pytest.approx(other._.pel_nil_score, abs=1e-5)


def test_max_length_changes_what_mentions_read_and_nothing_that_is_saved(nlp, tmp_path):
    nlp.to_disk(tmp_path / "long")
    short = spacy.load(tmp_path / "long", config={f"components.{NAME}.max_length": 8})
    linker = short.get_pipe(NAME)
    assert linker.encoder.mention_template.max_length == 128
    assert linker.linker.encoder.mention_template.max_length == 8
    text = "zzyzx " * 3 + "heart attack" + " zzyzx" * 3
    assert links(short(text)) != links(nlp(text))
    assert linker.linker.encoder.towers is linker.encoder.towers
    short.to_disk(tmp_path / "short")  # saves the setting, not another encoder
    again = spacy.load(tmp_path / "short")
    assert links(again(text)) == links(short(text))
    back = spacy.load(tmp_path / "short", config={f"components.{NAME}.max_length": None})
    assert links(back(text)) == links(nlp(text))
    with pytest.raises(PelError, match="PEL-E301"):
        spacy.load(tmp_path / "long", config={f"components.{NAME}.max_length": 2})


def test_index_of_another_encoder_is_refused(nlp, blank, tmp_path):
    nlp.to_disk(tmp_path / "one")
    with update_linker_folder(tmp_path / "one" / NAME) as part:
        blank.get_pipe(NAME).encoder.to_disk(part / "encoder")
    with pytest.raises(PelError, match="spacy-pel index"):
        spacy.load(tmp_path / "one")


def test_weights_that_are_missing_are_named(make_nlp):
    with pytest.raises(PelError, match="PEL-E302"):
        make_nlp(encoder={"@pel_encoders": "spacy-pel.BiEncoder.v1"})

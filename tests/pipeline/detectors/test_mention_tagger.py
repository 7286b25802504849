"""The trainable detector that tags tokens."""

import subprocess
import sys

import numpy as np
import pytest
import spacy
from cases import cases
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_pel.errors import PelError
from spacy_pel.pipeline.detectors.mention_tagger import Tagged, divided_by_words
from spacy_pel.util.reading import Reading

pytestmark = pytest.mark.slow

NAME = "pel_mention_tagger"
SIZES = {"width": 16, "depth": 2, "embed_size": 200, "window_size": 1, "pretrained_vectors": None}
SIZES |= {"maxout_pieces": 2, "subword_features": False}
GOLD = {
    "heart attack in the left kidney": [(0, 12, "DISEASE"), (20, 31, "SITE")],
    "fever and pain": [(0, 5, "DISEASE"), (10, 14, "DISEASE")],
    "the right kidney stone": [(4, 22, "DISEASE")],
}


def examples(nlp):
    return [Example.from_dict(nlp.make_doc(text), {"entities": spans}) for text, spans in GOLD.items()]


def tagger(tok2vec=None, gold=examples):
    nlp = spacy.blank("en")
    if tok2vec is None:
        tok2vec = {"@architectures": "spacy.HashEmbedCNN.v2", **SIZES}
    pipe = nlp.add_pipe(NAME, config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}})
    nlp.initialize(lambda: gold(nlp))
    return nlp, pipe


def trained(tok2vec=None, steps=60, gold=examples):
    nlp, pipe = tagger(tok2vec, gold)
    optimizer = nlp.create_optimizer()
    optimizer.learn_rate = 0.01
    batch = gold(nlp)
    for _ in range(steps):
        losses = nlp.update(batch, sgd=optimizer)
    return nlp, pipe, losses[NAME]


def set_tags(pipe, doc, probabilities):
    pipe.set_annotations([doc], [Tagged(doc, Reading(doc.text), probabilities)])


def spans(doc):
    return [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents]


@pytest.mark.parametrize("kind", ["network", "transformer"])
def test_it_learns_and_is_saved(kind, tiny_bert, tmp_path):
    """On spaCy's own network and on a transformer."""
    transformer = {"@architectures": "spacy-pel.TransformerTok2Vec.v1", "name": str(tiny_bert), "rate": 0.5}
    nlp, pipe, loss = trained(None if kind == "network" else transformer)
    assert pipe.labels == ("DISEASE", "SITE") == pipe.label_data
    assert pipe.tags == ["O", "B-DISEASE", "I-DISEASE", "B-SITE", "I-SITE"]
    assert {text: spans(nlp(text)) for text in GOLD} == GOLD and loss < 0.1
    nlp.to_disk(tmp_path / "saved")
    data = (tmp_path / "saved" / NAME / "model").read_bytes()
    assert b"cnumpy" not in data and b"torch._utils" not in data  # no pickle
    for read in (spacy.load(tmp_path / "saved"), spacy.blank("en").from_config(nlp.config)):
        read.from_bytes(nlp.to_bytes())
        assert [spans(doc) for doc in read.pipe(list(GOLD) * 2)] == list(GOLD.values()) * 2
    scores = nlp.evaluate(examples(nlp))
    assert scores["ents_f"] == 1.0 and set(scores["ents_per_type"]) == {"DISEASE", "SITE"}


def test_labels_keep():
    typed = {
        "heart attack in the left kidney": [(0, 12, "BIOLOGIC_FUNCTION"), (20, 31, "ANATOMICAL_STRUCTURE")],
        "fever and pain": [(0, 5, "FINDING"), (10, 14, "FINDING")],
    }
    made = lambda nlp: [Example.from_dict(nlp.make_doc(t), {"entities": s}) for t, s in typed.items()]  # noqa: E731
    nlp, pipe, _ = trained(gold=made)
    first, second = typed
    assert {text: spans(nlp(text)) for text in typed} == typed
    pipe.labels_keep = ["DISORDER"]
    assert (spans(nlp(first)), spans(nlp(second))) == (typed[first][:1], typed[second])
    pipe.labels_keep = ["T017"]
    assert (spans(nlp(first)), spans(nlp(second))) == (typed[first][1:], [])
    pipe.labels_keep = ["T017", "DISORDERS"]
    with pytest.raises(PelError, match="labels_keep of 'pel_mention_tagger'.*did you mean 'DISORDER'"):
        nlp(first)


def test_a_teacher_labels_text_without_annotations(tmp_path):
    teacher, _, _ = trained()
    teacher.to_disk(tmp_path / "teacher")
    nlp, pipe = tagger()
    pipe.teacher = str(tmp_path / "teacher")
    optimizer = nlp.create_optimizer()
    optimizer.learn_rate = 0.01
    unlabelled = [Example(nlp.make_doc(text), nlp.make_doc(text)) for text in GOLD]
    for _ in range(60):
        losses = nlp.update(unlabelled, sgd=optimizer)
    assert {text: spans(nlp(text)) for text in GOLD} == GOLD and losses[NAME] < 0.1
    wrong = [Example.from_dict(nlp.make_doc("fever"), {"entities": []})]
    guess = [np.full((1, 5), 0.2, dtype=np.float32)]
    (half,) = pipe.get_loss(wrong, guess)[1]
    soft = pipe._taught([wrong[0].x])[0]
    np.testing.assert_allclose(half, guess[0] - (soft + np.eye(5)[:1]) / 2, atol=1e-6)
    other, of_other = tagger(gold=lambda nlp: [Example.from_dict(nlp.make_doc("x"), {"entities": [(0, 1, "SITE")]})])
    of_other.teacher = pipe.teacher
    with pytest.raises(PelError, match="E525.*SITE, got DISEASE, SITE"):
        other.update(examples(other))


@pytest.mark.parametrize("kind", ["network", "transformer"])
def test_weights_move_towards_another_detector(kind, tiny_bert):
    layer = {"@architectures": "spacy-pel.TransformerTok2Vec.v1", "name": str(tiny_bert), "rate": 0.5}
    layer = None if kind == "network" else layer
    (start, before), (_, after, _) = tagger(layer), trained(layer)
    doc = start.make_doc("fever and pain")

    def said():
        return before.predict([doc])[0].probabilities

    at_first, learned = said(), after.predict([doc])[0].probabilities
    before.move_towards(after, 0.5)
    between = said()
    assert np.abs(between - at_first).max() > 0.01 and np.abs(between - learned).max() > 0.01
    before.move_towards(after, 1.0)
    np.testing.assert_allclose(said(), learned, atol=1e-5)
    with pytest.raises(PelError, match="E354"):
        before.move_towards(tagger({"@architectures": "spacy.HashEmbedCNN.v2", **SIZES, "width": 8})[1], 0.5)


@pytest.mark.parametrize(
    "tags, expected",
    [
        ("B I O B", [(0, 2, "X"), (3, 4, "X")]),
        ("B B I I", [(0, 1, "X"), (1, 4, "X")]),
        ("I I O I", [(0, 2, "X"), (3, 4, "X")]),  # nothing began them
        ("B J J O", [(0, 3, "Y")]),  # the likeliest label of all tokens
        ("B J O J", [(0, 2, "X"), (3, 4, "Y")]),  # a tie goes to the first label
    ],
)
def test_tags_to_mentions(tags, expected):
    nlp, pipe = tagger()
    pipe.cfg["labels"] = ["X", "Y"]
    doc = nlp.make_doc("one two three four")
    set_tags(pipe, doc, np.eye(5)[["OBIAJ".index(tag) for tag in tags.split()]])
    assert [(ent.start, ent.end, ent.label_) for ent in doc.ents] == expected


def test_the_mention_is_found_whatever_its_label():
    nlp, pipe = tagger()
    pipe.cfg["labels"] = ["X", "Y"]
    doc = nlp.make_doc("one two")
    set_tags(pipe, doc, np.array([[0.4, 0.3, 0.0, 0.3, 0.0], [0.4, 0.0, 0.2, 0.1, 0.3]]))
    assert [(ent.start, ent.end, ent.label_) for ent in doc.ents] == [(0, 2, "Y")]  # "O" is the likeliest single tag


def tagged(text, tags):
    """The mentions of these tags; the last one counts for the rest of the text."""
    nlp, pipe = tagger()
    doc = nlp.make_doc(text)
    columns = {"O": 0, "B": pipe.tags.index("B-DISEASE"), "I": pipe.tags.index("I-DISEASE")}
    set_tags(pipe, doc, np.eye(len(pipe.tags))[[columns[tag] for tag in tags.ljust(len(doc), tags[-1])]])
    return [ent.text for ent in doc.ents]


@pytest.mark.parametrize("text, tags, expected", cases("mention_tagger", "where_a_mention_begins_and_ends"))
def test_where_a_mention_begins_and_ends(text, tags, expected):
    assert tagged(text, tags) == expected


def test_mentions_that_share_a_bracket():
    nlp, pipe = tagger()
    doc = Doc(nlp.vocab, ["a", "poly(ADP", ")-beta", "level"], [True, False, True, False])
    outside, begin, inside = (pipe.tags.index(tag) for tag in ("O", "B-DISEASE", "I-DISEASE"))
    set_tags(pipe, doc, np.eye(len(pipe.tags))[[outside, begin, begin, inside]])
    assert [ent.text for ent in doc.ents] == ["poly(ADP)"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("PMH:\nasthma\nhypertension\ndiabetes mellitus\nCOPD", ["asthma", "hypertension", "diabetes mellitus"]),
        ("Meds:\r\naspirin\r\nmetformin\r\nwarfarin", ["aspirin", "metformin", "warfarin"]),
        ("chronic obstructive pulmonary disease with asthma\nHypertension", ["Hypertension"]),
        ("x" * 60 + "\n- chronic obstructive pulmonary disease with asthma\ngout", ["gout"]),
    ],
)
def test_no_mention_crosses_the_end_of_an_item(text, expected):
    """Even where all tokens of a list are tagged as one mention."""
    found = tagged(text, "BI")
    assert set(expected) <= set(found) and not any("\n" in mention for mention in found)


def test_entities_and_blocked_tokens_that_are_there_stay():
    nlp, pipe = tagger()
    doc = nlp.make_doc("fever and pain or kidney")
    doc.set_ents([Span(doc, 0, 2, label="RULE", kb_id="C1")], blocked=[doc[2:3]])
    begin = pipe.tags.index("B-DISEASE")
    set_tags(pipe, doc, np.eye(len(pipe.tags))[[begin, begin, begin, 0, begin]])
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [
        ("fever and", "RULE", "C1"),
        ("kidney", "DISEASE", ""),
    ]
    assert doc[2].ent_iob == 3 and not doc[2].ent_type


def test_the_loss_leaves_out_what_is_not_known():
    nlp, pipe = tagger()
    gold = Example.from_dict(
        nlp.make_doc("heart attack in kidney"), {"entities": ["B-DISEASE", "L-DISEASE", "-", "U-NEW"]}
    )
    scores = pipe.model.ops.asarray2f(np.full((4, 5), 0.2, dtype="f"))
    loss, (gradient,) = pipe.get_loss([gold], [scores])
    assert np.allclose(gradient[0] * 2, [0.2, -0.8, 0.2, 0.2, 0.2])
    assert np.allclose(gradient[1] * 2, [0.2, 0.2, -0.8, 0.2, 0.2])
    assert not gradient[2:].any() and loss == pytest.approx(0.8**2 + 4 * 0.2**2)


def test_it_says_what_is_missing():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe(NAME)
    with pytest.raises(PelError, match="E522"):
        nlp("fever")
    with pytest.raises(PelError, match="E353"):
        nlp.initialize(lambda: examples(nlp))
    bare = [Example.from_dict(nlp.make_doc("no mention"), {"entities": []})]
    with pytest.raises(PelError, match="E523"):
        pipe.initialize(lambda: bare)


def test_empty_documents():
    nlp, _, _ = trained(steps=1)
    assert [len(doc.ents) for doc in nlp.pipe(["", "  ", ""])] == [0, 0, 0]
    assert nlp("\u200b").has_annotation("ENT_IOB")  # nothing is read of it, and it has a token
    assert nlp.get_pipe(NAME).predict([]) == []


def test_a_large_batch_is_read_in_parts():
    """Arrays for all of it at once would leave memory behind that the C library cannot give back."""
    docs = [spacy.blank("en")("fever and pain " * 100)] * 20
    assert max(sum(map(len, batch)) for batch in divided_by_words(docs)) <= 1000


def test_initialized_again():
    """Other labels are learned, as many as before; another number of them is refused."""
    nlp, pipe, _ = trained()
    other = [Example.from_dict(nlp.make_doc("fever"), {"entities": [(0, 5, "SIGN")]})]
    with pytest.raises(PelError, match="E524.* 5 tags.*got 1 labels: SIGN"):
        nlp.initialize(lambda: other)
    pipe.initialize(lambda: other, labels=["SIGN", "NONE", "SIGN"])
    assert pipe.labels == ("NONE", "SIGN")
    optimizer = nlp.create_optimizer()
    for _ in range(30):
        nlp.update(other, sgd=optimizer)
    assert spans(nlp("fever")) == [(0, 5, "SIGN")]


SCRIPT = """
import sys
import multiprocessing
import spacy

if __name__ == "__main__":
    nlp = spacy.load(sys.argv[1])
    list(nlp.pipe(["fever and pain"] * 50))  # the parent has used its threads
    for method in sys.argv[2:]:
        multiprocessing.set_start_method(method, force=True)
        docs = nlp.pipe(["fever and pain", "the right kidney stone"] * 4, n_process=2, batch_size=2)
        print([len(doc.ents) for doc in docs])
"""


def test_workers_find_the_same(tiny_bert, tmp_path):
    """A worker that hangs would hang the tests, so they run in a process of their own."""
    transformer = {"@architectures": "spacy-pel.TransformerTok2Vec.v1", "name": str(tiny_bert), "rate": 0.5}
    nlp, _, _ = trained(transformer)
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf8")
    methods = ["spawn"] if sys.platform == "win32" else ["fork", "spawn"]
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "saved"), *methods]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [str([2, 1] * 4)] * len(methods)
    assert "tokenizers" not in result.stderr  # no warning about the fork

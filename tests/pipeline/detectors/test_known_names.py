"""Names that a detector knows, and what it reads of them."""

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example
from thinc.api import Adam

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.openvino_backend import OpenVinoBackend
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.pipeline.detectors.known_names import _FOLDS, KnownNames, fold_of, learn_names, name_key, stretches
from spacy_pel.types import Entity

NLP = spacy.blank("en")
LABELS = ["BIOLOGIC_FUNCTION", "CHEMICAL"]
ENTITIES = [
    Entity("C1", "knee-joint pain", aliases=("gonalgia",), types=("T184",)),  # a finding: none of the labels
    Entity("C2", "Type 2 diabetes", types=("T047",)),
    Entity("C3", "aspirin", types=("T121",)),
]
TEXTS = [
    ("Aspirin for the pain.", [(0, 7, "CHEMICAL")]),
    ("The study of aspirin.", [(4, 9, "BIOLOGIC_FUNCTION"), (13, 20, "CHEMICAL")]),
    *[(f"A study, number {i}.", []) for i in range(20)],
]


def learned(texts=TEXTS, entities=ENTITIES):
    return learn_names(LABELS, lambda: [(NLP(text), marks) for text, marks in texts], KnowledgeBase(entities))


def test_what_is_compared():
    assert name_key("Knee-joint  PAIN") == "kneejointpain"
    spans, hashes = stretches(NLP("Knee-joint\npain (a)"))
    first, last = stretches(NLP("kneejoint pain")), stretches(NLP("knee joint pain"))
    assert set(first[1].tolist()) < set(hashes.tolist()) and set(last[1].tolist()) < set(hashes.tolist())
    assert len(spans) == len(hashes) and spans.dtype == np.int64
    assert stretches(NLP(""))[0].shape == (0, 2)


@pytest.mark.parametrize(
    "text, marked, named",
    [
        ("aspirin", [1], [1]),
        ("ASPIRIN.", [1, 0], [1, 0]),
        ("the study", [0, 0], [0, 0]),  # marked in one of 21 places
        ("pain", [0], [0]),
    ],
)
def test_codes(text, marked, named):
    known, _ = learned()
    doc = NLP(text)
    both = known.codes_of(len(doc), (found := stretches(doc))[0], *known.find(found[1]))
    assert (both > 0).astype(int).T.tolist() == [marked, named]
    assert known.codes(doc).tolist() == (both @ [known.n_codes[1], 1]).tolist()


def test_the_features_of_a_code():
    known, _ = learned()
    doc = NLP("aspirin")
    of_marked, of_named = known.features()
    marked, named = divmod(int(known.codes(doc)[0]), known.n_codes[1])
    assert of_marked[marked].tolist() == pytest.approx([1, 0, 1, 0.9, np.log1p(2) / 5, 0, 1])
    assert of_named[named].tolist() == [1, 0, 1, 0, 1]
    assert not of_marked[0].any() and not of_named[0].any()
    finding = NLP("gonalgia")
    assert of_named[known.codes(finding)[0] % known.n_codes[1]].tolist() == [1, 0, 1, 0, 0]  # a name without a label


def test_the_features_of_a_name_of_several_tokens():
    known, _ = learned()
    doc = NLP("a type 2 diabetes study")
    _, of_named = known.features()
    tokens = of_named[known.codes(doc) % known.n_codes[1]]
    assert tokens[:, :3].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 0]]
    assert tokens[1:4, 3 + LABELS.index("BIOLOGIC_FUNCTION")].all()


def test_a_text_does_not_tell_what_it_marks_itself():
    text = "Xylazine helps."
    everywhere, folds = learned([*TEXTS, (text, [(0, 8, "CHEMICAL")])])
    assert everywhere.codes(NLP(text))[0] > 0
    assert folds[fold_of(NLP(text))].codes(NLP(text))[0] == 0
    assert len(folds) == _FOLDS and all(
        fold.codes(NLP(text))[0] for i, fold in enumerate(folds) if i != fold_of(NLP(text))
    )


def test_altered_copies_share_the_fold_of_the_document():
    docs = [NLP("Xylazine helps."), NLP("xylazine hleps."), NLP("XYLAZINE HELPS.")]
    assert len({fold_of(doc) for doc in docs}) > 1
    for doc in docs:
        doc.user_data["pel_doc_id"] = "12345"
    assert len({fold_of(doc) for doc in docs}) == 1 == len({fold_of(doc.copy()) for doc in docs})


def test_saved(tmp_path):
    known, _ = learned()
    known.write(tmp_path / "names.safetensors", {})
    again, weights = KnownNames.read(tmp_path / "names.safetensors")
    doc = NLP("Type 2 diabetes and aspirin, a study.")
    assert again.labels == LABELS and weights == {}
    assert again.codes(doc).tolist() == known.codes(doc).tolist() and again.codes(doc).any()


def tagger(names, tiny_bert):
    nlp = spacy.blank("en")
    tok2vec = {
        "@architectures": "spacy-pel.TransformerTok2Vec.v1",
        "name": str(tiny_bert),
        "names": str(names),
        "rate": 1.0,
    }
    model = {"@architectures": "spacy.Tagger.v2", "nO": None, "normalize": False, "tok2vec": tok2vec}
    nlp.add_pipe("pel_mention_tagger", name="ner", config={"model": model})
    return nlp


@pytest.fixture
def detector(tiny_bert, tmp_path):
    """A pipeline, its examples and the shim of its layer."""
    KnowledgeBase(ENTITIES).to_disk(tmp_path / "kb")
    nlp = tagger(tmp_path / "kb", tiny_bert)
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": marks}) for text, marks in TEXTS]
    nlp.initialize(lambda: examples)
    return nlp, examples, nlp.get_pipe("ner").model.get_ref("tok2vec").shims[0]


def test_a_detector_learns_with_names_and_is_saved(detector, tmp_path):
    nlp, examples, shim = detector
    before = {name: values.clone() for name, values in shim._model.weights().items()}
    optimizer = Adam(0.01)
    losses = []
    for _ in range(15):
        nlp.update(examples, sgd=optimizer, losses=(loss := {}))
        losses.append(loss["ner"])
    assert losses[-1] < losses[0]
    assert all((shim._model.weights()[name] != values).any() for name, values in before.items())
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    for text, _ in TEXTS[:3]:
        (ours,), (theirs,) = (pipe.get_pipe("ner").predict([pipe.make_doc(text)]) for pipe in (nlp, again))
        np.testing.assert_allclose(ours.probabilities, theirs.probabilities, atol=0.02)  # float16
    saved = again.get_pipe("ner").model.get_ref("tok2vec").shims[0]  # as a teacher, or for a further training
    docs = [again.make_doc(text) for text, _ in TEXTS[:3]]
    np.testing.assert_allclose(saved.begin_update(docs)[0], saved.predict(docs), atol=0.02)


def test_names_need_the_tagger(tiny_bert, tmp_path):
    from spacy_pel.pipeline.detectors.transformer_tok2vec import make_transformer_tok2vec

    with pytest.raises(PelError, match="E356.*'somewhere' need pel_mention_tagger"):
        make_transformer_tok2vec(str(tiny_bert), names="somewhere").initialize()


def test_every_backend_reads_names(detector):
    pytest.importorskip("openvino")
    nlp, _, shim = detector
    torch.manual_seed(0)
    shim._model.load_weights({name: torch.randn(values.shape) for name, values in shim._model.weights().items()})
    docs = [nlp.make_doc(text) for text, _ in TEXTS]
    vectors = []
    for backend in (TorchBackend(precision="float32"), OpenVinoBackend(precision="float32")):
        shim.backend, shim._encode = backend, None
        vectors.append(shim.predict(docs))
    np.testing.assert_allclose(*vectors, atol=1e-4)
    shim._model.load_weights({name: torch.zeros_like(values) for name, values in shim._model.weights().items()})
    shim._encode = None
    assert np.abs(shim.predict(docs) - vectors[0]).max() > 0.01

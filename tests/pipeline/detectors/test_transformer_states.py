"""Mentions read from the states of an upstream transformer, against the encoder and a plain loop."""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest
import spacy
import torch
import transformers

from spacy_pel.candidates.bi_encoder import BiEncoderCandidates
from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.templates import DocumentWindows
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.pipeline.gold import query_maker
from spacy_pel.pipeline.mentions import span_queries
from spacy_pel.types import Document, Mention, MentionInText
from spacy_pel.util.arrays import unit_length

from ..conftest import NAME, PATTERNS, PLAIN, TEXTS, found, links

# find_spec, as the import takes seconds, also where these tests are left out
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not find_spec("spacy_transformers"), reason="needs the extra trf")]
LONG = "Aspirin after a heart attack relieves headache , and a cold or zzyzx or HD is a cold . " * 3
TORCH = {"@pel_backends": "spacy-pel.TorchBackend.v1", "precision": "float32"}
ENCODER = {"@pel_encoders": "spacy-pel.BiEncoder.v1", "backend": TORCH}


@pytest.fixture(scope="module")
def model(tiny_bert, tmp_path_factory):
    """The folder of an encoder that reads documents in windows; its weights are stored in half precision."""
    encoder = BiEncoder(
        name=str(tiny_bert),
        tied=True,
        pooling="mention",
        mention_template=DocumentWindows(max_length=128),
        backend=TorchBackend(precision="float32"),
        store="float16",
    )
    encoder.initialize()
    path = tmp_path_factory.mktemp("encoder") / "model"
    encoder.to_disk(path)
    return path


def add_transformer(nlp, folder, window=128, stride=96, **where):
    model = {
        "@architectures": "spacy-transformers.TransformerModel.v3",
        "name": str(folder),
        "tokenizer_config": {"use_fast": True, "model_max_length": 512},
        "get_spans": {"@span_getters": "spacy-transformers.strided_spans.v1", "window": window, "stride": stride},
    }
    transformer = nlp.add_pipe("transformer", config={"model": model}, **where)
    transformer.initialize(lambda: [], nlp=nlp)
    return transformer


def initialize(nlp, kb_path, model, nlp_is_known=True):
    nlp.get_pipe(NAME).initialize(
        lambda: [],
        nlp=nlp if nlp_is_known else None,
        kb_loader=lambda: KnowledgeBase.from_disk(kb_path),
        encoder_loader=None if model is None else lambda encoder: encoder.from_disk(model),
    )


@pytest.fixture
def make(kb_path, model):
    """A pipeline whose linker reads mentions from the states of the transformer before it."""

    def make(window=128, stride=96, weights=None, **config):
        nlp = spacy.blank("en")
        add_transformer(nlp, weights or model / "mention", window, stride)
        nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
        settings = {**PLAIN, "encoder": ENCODER, "transformer": "transformer", "read_context": "always", **config}
        nlp.add_pipe(NAME, config=settings)
        initialize(nlp, kb_path, model)
        return nlp

    return make


@pytest.fixture
def shared(make):
    return make()


@pytest.fixture
def calls(monkeypatch):
    """Counts what each transformer reads: documents upstream, mentions in the encoder."""
    from spacy_transformers import Transformer

    counts, read, encode = {"batches": 0, "mentions": 0}, Transformer.predict, BiEncoder.encode_mentions

    def predict(self, docs):
        counts["batches"] += 1
        return read(self, docs)

    def encode_mentions(self, mentions, *args, **kwargs):
        counts["mentions"] += len(mentions)
        return encode(self, mentions, *args, **kwargs)

    monkeypatch.setattr(Transformer, "predict", predict)
    monkeypatch.setattr(BiEncoder, "encode_mentions", encode_mentions)
    return counts


def without_states(nlp, path):
    """The same pipeline, in which the encoder reads the mentions."""
    nlp.to_disk(path)
    return spacy.load(path, config={"components": {NAME: {"transformer": None}}})


def encoded(nlp, doc):
    queries = span_queries(doc, list(doc.ents), expand_abbreviations=True)
    return nlp.get_pipe(NAME).states.encode(doc, queries)


# -- vectors -------------------------------------------------------------------------------------------


def test_texts_of_one_window_have_the_vectors_and_links_of_the_encoder(shared, calls, tmp_path):
    docs = list(shared.pipe(TEXTS))
    assert calls == {"batches": 1, "mentions": 0}, "read once, all documents of the batch together"
    found = [query for doc in docs for query in encoded(shared, doc)]
    assert len(found) == 8 and all(query.vector is not None for query in found)
    expected = shared.get_pipe(NAME).encoder.encode_mentions([MentionInText(q.text, q.start, q.end) for q in found])
    np.testing.assert_allclose([query.vector for query in found], expected, atol=1e-5)
    output = docs[0]._.trf_data.model_output
    output["last_hidden_state"] = output["last_hidden_state"].astype(np.float16)
    for query, vector in zip(encoded(shared, docs[0]), expected, strict=False):
        assert query.vector.dtype == np.float32
        np.testing.assert_allclose(query.vector, vector, atol=1e-3)
    plain = without_states(shared, tmp_path / "pipeline")
    calls["mentions"] = 0
    assert [links(doc) for doc in plain.pipe(TEXTS)] == [links(doc) for doc in docs]
    assert calls["mentions"] > 0
    assert [links(shared(text)) for text in TEXTS] == [links(doc) for doc in docs]


@pytest.mark.parametrize("window, stride", [(12, 8), (9, 3), (20, 20)])
def test_a_mention_in_several_windows_is_read_where_it_has_most_context(make, model, window, stride):
    nlp = make(window, stride)
    doc = nlp(LONG)
    assert len(doc._.trf_data.wordpieces) > 2
    tower, tokenizer = (
        kind.from_pretrained(model / "mention") for kind in (transformers.AutoModel, transformers.AutoTokenizer)
    )
    found = encoded(nlp, doc)
    assert len(found) == 21
    for query, span in zip(found, doc.ents, strict=True):
        best = (-1, -1)
        for begin in range(0, len(doc), stride):
            text = doc[begin : begin + window]
            pieces = tokenizer(text.text, return_offsets_mapping=True, return_tensors="pt")
            offsets = (pieces.pop("offset_mapping")[0] + text.start_char).tolist()
            own = [i for i, (a, b) in enumerate(offsets) if a < span.end_char and b > span.start_char]
            own = [i for i in own if 0 < i < len(offsets) - 1]
            if own and (len(own), min(own[0] - 1, len(offsets) - 2 - own[-1])) > best:
                best = (len(own), min(own[0] - 1, len(offsets) - 2 - own[-1]))
                with torch.no_grad():
                    states = tower.eval()(**pieces).last_hidden_state[0]
                expected = states[own].mean(dim=0).numpy()
        np.testing.assert_allclose(query.vector, unit_length(expected[None])[0], atol=1e-5)


def test_expanded_abbreviations_are_read_by_the_encoder(shared, tmp_path):
    plain = without_states(shared, tmp_path / "pipeline")
    docs = []
    for nlp in (shared, plain):
        nlp.add_pipe("pel_abbreviation_detector", before=NAME)
        docs.append(nlp("Huntington disease (HD) is rare. HD is inherited."))
    assert [query.vector is not None for query in encoded(shared, docs[0])] == [True, False, False]
    assert links(docs[0]) == links(docs[1])


def test_mentions_without_states_of_their_own_are_read_by_the_encoder(shared):
    states = shared.get_pipe(NAME).states
    doc = shared("Aspirin   \n heart attack")
    text, blank = doc.text, doc[1]
    assert blank.is_space
    places = [(1, 5), (blank.idx, blank.idx + len(blank)), (0, 7)]  # inside a token; no pieces; a token
    queries = [MentionQuery(text, *at) for at in places]
    found = states.encode(doc, queries)
    assert found == queries
    assert [query.vector is not None for query in found] == [False, False, True]
    doc._.trf_data.align = doc._.trf_data.align[1:]  # as of windows that begin at the second token
    assert states.encode(doc, queries) == queries
    assert states.encode(shared.make_doc(text), []) == []


# -- the linker ----------------------------------------------------------------------------------------


def test_generators_in_an_ensemble_take_them_too(make, calls, tmp_path):
    parts = {"@pel_candidates": "spacy-pel.EnsembleCandidates.v1"}
    parts["generators"] = {"near": {"@pel_candidates": BiEncoderCandidates.registered_name}}
    nlp = make(generator=parts)
    expected = found(nlp)
    assert calls["mentions"] == 0
    assert found(without_states(nlp, tmp_path / "pipeline")) == expected


def test_the_encoder_reads_forms_alone(make, calls):
    nlp = make(read_context="never")
    docs = list(nlp.pipe(TEXTS))
    assert calls["mentions"] == len({ent.text for doc in docs for ent in doc.ents})


# -- gold mentions, disk, processes --------------------------------------------------------------------


def test_gold_mentions_are_read_as_at_inference(make, calls):
    nlp = make(12, 8)
    doc = nlp(LONG)
    mentions = [Mention(ent.start_char, ent.end_char, ent.label_, ("C02",)) for ent in doc.ents]
    document = Document("1", LONG, [*mentions, Mention(1, 7, "CHEMICAL")])
    queries = query_maker(nlp)(document)
    expected = encoded(nlp, doc)
    assert queries[:-1] == expected
    np.testing.assert_allclose(
        [query.vector for query in queries[:-1]], [query.vector for query in expected], atol=1e-5
    )
    assert queries[-1].vector is None, "ends inside of a token"
    assert query_maker(nlp)(Document("2", LONG)) == []
    nlp.get_pipe(NAME).calibrate(nlp, [document])
    forms = {query.form for query in queries}
    assert calls["mentions"] == len(forms) + 1, "each form alone, and the mention without states in its context"


def test_round_trips(shared, make, tmp_path):
    expected = found(shared)
    assert any(expected)
    shared.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert again.get_pipe(NAME).transformer == "transformer"
    assert found(again) == found(make().from_bytes(shared.to_bytes())) == expected
    component = pickle.loads(pickle.dumps(shared.get_pipe(NAME)))
    with shared.select_pipes(disable=[NAME]):
        assert [links(component(doc)) for doc in shared.pipe(TEXTS)] == expected


# -- errors --------------------------------------------------------------------------------------------


def test_other_weights_are_refused(make, model, tmp_path):
    def differ(transformer):
        for weights in transformer.encoder.parameters():
            weights.data += 0.1

    other = transformers.AutoModel.from_pretrained(model / "mention")
    differ(other)
    other.save_pretrained(tmp_path / "other")
    transformers.AutoTokenizer.from_pretrained(model / "mention").save_pretrained(tmp_path / "other")
    with pytest.raises(PelError, match="PEL-E515.*transformer = null"):
        make(weights=tmp_path / "other")
    make().to_disk(tmp_path / "pipeline")
    nlp = spacy.load(tmp_path / "pipeline")
    differ(nlp.get_pipe("transformer").model.transformer)
    for _ in range(2):
        with pytest.raises(PelError, match="PEL-E515"):
            nlp(TEXTS[0])


def test_a_missing_transformer_is_named(kb_path, model):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    nlp.add_pipe(NAME, config={**PLAIN, "encoder": ENCODER, "transformer": "trf"})
    with pytest.raises(PelError, match=f"PEL-E514.*'trf'.* got only entity_ruler, {NAME}"):
        initialize(nlp, kb_path, model)
    add_transformer(nlp, model / "mention", name="trf")
    with pytest.raises(PelError, match="PEL-E514.* got one that comes later"):
        initialize(nlp, kb_path, model)
    initialize(nlp, kb_path, model, nlp_is_known=False)
    with pytest.raises(PelError, match="PEL-E514.* got a document without states"):
        nlp(TEXTS[0])


@pytest.mark.parametrize(
    "config, got",
    [
        ({"encoder": PLAIN["encoder"]}, "spacy-pel.HashEmbed.v1"),
        ({"encoder": {**ENCODER, "name": "random:layers=1,width=16"}}, "spacy-pel.MarkedContext.v1"),
        ({"encoder": None, "index": None, "generator": {"@pel_candidates": "spacy-pel.TfIdf.v1"}}, "no encoder"),
    ],
)
def test_an_encoder_without_windows_is_refused(make_nlp, config, got):
    with pytest.raises(PelError, match=f"PEL-E516.*got {got}"):
        make_nlp(transformer="transformer", **config)

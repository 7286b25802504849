"""Training on mentions that share windows: the batches, the objective, resuming, and what comes of it."""

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc

from spacy_pel.corpora import read_corpus
from spacy_pel.encoders import load_encoder
from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.templates import DocumentWindows, EntityCard
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_flat import FaissFlat
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.losses.cross_entropy import CrossEntropy
from spacy_pel.training.negatives.in_batch_negatives import InBatchNegatives
from spacy_pel.training.retriever.batches import BatchPlanner
from spacy_pel.training.retriever.objective import Objective
from spacy_pel.training.retriever.settings import ViewSettings
from spacy_pel.types import MentionInText

from ..conftest import ENTITIES, NAMES, build_examples, document, metrics

pytestmark = pytest.mark.slow

WINDOWS = {
    "pel.encoder.pooling": "mention",
    "pel.encoder.mention_template.@pel_templates": "spacy-pel.DocumentWindows.v1",
    "pel.encoder.mention_template.max_length": 40,
}
DOCUMENTS = [document(i, [NAMES[(i * k) % 14] for k in (1, 3, 5, 2, 7, 4)]) for i in range(24)]


@pytest.fixture(scope="module")
def encoder():
    made = BiEncoder(
        name="random:layers=1,width=8",
        tied=True,
        pooling="mention",
        mention_template=DocumentWindows(max_length=48),
        entity_template=EntityCard(max_length=24),
        backend=TorchBackend(precision="float32"),
    )
    made.initialize()
    return made


@pytest.fixture(scope="module")
def store(encoder):
    return build_examples(KnowledgeBase(ENTITIES), DOCUMENTS, encoder)


def make_planner(store, *, batch_size=16, **views):
    settings = {"negatives": InBatchNegatives(), "batch_size": batch_size, "pad_id": 0, "seed": 0}
    return BatchPlanner(store, views=ViewSettings(**views), **settings)


def examples_of_all(planner, epoch=0):
    return [batch[batch < len(planner.store.mentions)] for batch in planner.plan(epoch)]


# -- the batches --------------------------------------------------------------------------------


def test_batches_are_windows_of_many_documents(store):
    planner = make_planner(store, alias_share=0.2)
    window, document_of = store.mentions.spans[:, 0], np.repeat(np.arange(24), 6)
    assert len(store.mentions) == 144 and len(store.mentions.windows) < 100
    for epoch in range(3):
        batches = examples_of_all(planner, epoch)
        assert len(batches) == planner.batches_per_epoch
        assert sorted(np.concatenate(batches)) == list(range(144)), "each mention once"
        read = sum(len(np.unique(window[batch])) for batch in batches)
        assert read <= len(store.mentions.windows) + len(batches), "a window is cut by one border at most"
        texts = [len(np.unique(document_of[batch])) for batch in batches if len(batch) > 8]
        assert np.mean(texts) > 4
    orders = [np.concatenate(examples_of_all(planner, epoch)).tolist() for epoch in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize("views", [{}, {"mention": 1.0, "card": 0.0}])
def test_each_window_of_a_batch_is_read_once(store, encoder, views):
    planner = make_planner(store, alias_share=0.2, **views)
    tower, compared = encoder.tower("mention").eval(), 0
    for step, examples in enumerate(planner.plan(0)):
        batch = planner.build(examples, step)
        vectors = encoder.encode_tokens("mention", store.anchors(np.sort(examples)))
        places = np.argsort(np.argsort(examples, kind="stable"), kind="stable")
        objective = Objective(torch.nn.ModuleDict({"mention": tower}), CrossEntropy()).eval()
        with torch.no_grad():
            encoded = objective._encode(objective._inputs(batch.anchors)).numpy()
        unit = encoded / np.linalg.norm(encoded, axis=1, keepdims=True)
        np.testing.assert_allclose(unit, vectors[places], atol=1e-5)
        own = store.mentions.spans[examples[examples < len(store.mentions)], 0]
        assert len(own) == 0 or len(batch.anchors[0].ids) == len(np.unique(own))
        for side in (*batch.anchors, *batch.entities):
            if side.tower == "mention":
                assert len(side.places) == len(side.spans)
                assert set(side.spans[:, 0]) == set(range(len(side.ids)))
                compared += len(side.places) - len(side.ids)
        gold = store.gold(examples)
        same = np.array([[np.isin(own[0], other) for own in gold] for other in gold])
        assert not (batch.negative_mask & same).any(), "another mention of the entity is no negative"
    assert compared > 40, "mentions share windows"


# -- the training -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {
            "pel__positives__name": 0.3,
            "pel__positives__mention": 0.5,
            "pel__regularizer": {"@pel_regularizers": "spacy-pel.FGSM.v1"},
        },
        {"pel__negatives__@pel_negatives": "spacy-pel.HardNegatives.v1"},
    ],
    ids=["FGSM", "mined"],
)
def test_stopped_and_resumed(check_resuming, changes):
    check_resuming(6, **WINDOWS, **changes)


@pytest.fixture(scope="module")
def trained(train, tmp_path_factory):
    """A training in windows on the names of 14 entities."""
    output = tmp_path_factory.mktemp("trained") / "run"
    longer = {"pel.training.max_steps": 120, "pel.training.eval_frequency": 40, "pel.training.batch_size": 16}
    train(output, **WINDOWS, **longer)
    return output


def test_a_training_learns(trained):
    log = metrics(trained)
    assert log[-1]["loss"] < 0.8 * log[0]["loss"]
    assert max(record["recall@1"] for record in log) > 60


def test_the_index_and_the_linker_read_windows(trained, data, tmp_path):
    encoder = load_encoder(trained / "model-best")
    kb = KnowledgeBase.from_disk(data["paths.kb"])
    documents = list(read_corpus(data["paths.train"]))
    kinds = ("card", "alias", "mention")
    index = EntityIndex.build(kb, encoder, index=FaissFlat(), kinds=kinds, documents=documents)
    mention = documents[0].mentions[0]
    query = encoder.encode_mentions([MentionInText(documents[0].text, mention.start, mention.end)])
    scores, _ = index.search_entities(query, 1)
    assert scores[0, 0] == pytest.approx(1.0, abs=1e-3), "its own row"
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("proxy_entity_linker", config={"encoder": {"@pel_encoders": "spacy-pel.BiEncoder.v1"}})
    model = trained / "model-best"
    linker.initialize(
        list,
        kb_loader=lambda: kb,
        encoder_loader=lambda own: own.from_disk(model),
        index_loader=lambda kb, encoder: index,
    )
    docs = [with_ents(nlp, one) for one in read_corpus(data["paths.dev"])]
    alone = [ids(linker(doc.copy())) for doc in docs]
    gold = [[own.ids[0] for own in one.mentions] for one in read_corpus(data["paths.dev"])]
    assert alone == gold, "names that the KB has"
    together = [ids(doc) for doc in linker.pipe([doc.copy() for doc in docs])]
    assert together == alone
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline").get_pipe("proxy_entity_linker")
    assert [ids(doc) for doc in again.pipe([doc.copy() for doc in docs])] == alone


def with_ents(nlp, one):
    doc: Doc = nlp.make_doc(one.text)
    doc.set_ents([doc.char_span(own.start, own.end, label="X") for own in one.mentions])
    return doc


def ids(doc):
    return [ent.kb_id_ for ent in doc.ents]

"""Training a ranker: it learns what the retriever cannot, the same each time, killed or not."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from linking.rankers.conftest import make_ranker

from spacy_pel.corpora import write_corpus
from spacy_pel.errors import PelError
from spacy_pel.evaluation.predict import gold_queries
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.linking.combiner import is_gold
from spacy_pel.registry import registry
from spacy_pel.training.batching import without_names
from spacy_pel.training.ranker.candidates import RankMentions, find_best
from spacy_pel.training.ranker.loop import RankTrainer
from spacy_pel.training.ranker.pair_training import (
    CandidateCrossEntropy,
    PairObjective,
    PairPlanner,
    PairStore,
    with_gold,
)
from spacy_pel.training.ranker.settings import read_rank_settings, recipe_of
from spacy_pel.training.regularizers import FGSM
from spacy_pel.types import Document, Entity, Mention, RankedRows

from ..conftest import differing, set_dropout
from .conftest import accuracies, make_sense_documents, train_ranker

CONFIGS = Path(__file__).parents[3] / "configs"
SMALL = {
    "ranker.training.max_steps": 4,
    "ranker.training.eval_frequency": 2,
    "ranker.model.top_k": 2,
    "ranker.candidates.n": 2,
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    path = tmp_path_factory.mktemp("senses")
    write_corpus(path / "train.jsonl", make_sense_documents(32))
    write_corpus(path / "dev.jsonl", make_sense_documents(16, first=100))
    return {"paths.train": str(path / "train.jsonl"), "paths.dev": str(path / "dev.jsonl")}


@pytest.fixture
def train(paths, retriever):
    """A function that trains configs/ranker_tiny.cfg, smaller, with some settings changed."""
    return partial(train_ranker, CONFIGS / "ranker_tiny.cfg", {**paths, **SMALL}, retriever)


# -- the whole -----------------------------------------------------------------------------------


def test_it_learns_what_the_retriever_cannot_tell(train, retriever, tmp_path):
    optimizer = {"ranker__training__optimizer__learn_rate": 0.01, "ranker__training__optimizer__warmup": 0.1}
    best = train(
        tmp_path / "out",
        ranker__training__max_steps=60,
        ranker__training__max_epochs=60,
        ranker__training__batch_size=16,
        ranker__training__eval_frequency=20,
        **optimizer,
    )
    assert best["retriever_accuracy"] == 0.5 and best["retriever_recall"] == 1.0
    assert best["accuracy"] == 1.0
    documents = make_sense_documents(16, first=200)
    assert accuracies(retriever, tmp_path / "out" / "model-best", documents) == (0.5, 1.0)


def test_the_same_seed_gives_the_same_files_and_another_seed_others(train, tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        train(tmp_path / name, system__seed=seed)
    assert differing(tmp_path / "one", tmp_path / "two") == []
    assert "model-last/model.safetensors" in differing(tmp_path / "one", tmp_path / "three")


def test_stopped_and_resumed(check_resuming):
    settings = {"ranker__training__accumulate_gradient": 2, "ranker__training__mixed_precision": "bf16"}
    check_resuming(3, RankTrainer, **settings)


def test_errors(train, paths, tmp_path):
    with pytest.raises(PelError, match="PEL-E393"):
        train(tmp_path / "out", ranker__model__top_k=1)
    strangers = tmp_path / "strangers.jsonl"
    write_corpus(strangers, [Document("d", "a cold", [Mention(2, 6, "", ("Z1",))])])
    with pytest.raises(PelError, match="PEL-E392"):
        train(tmp_path / "out", paths__train=str(strangers))
    config = tmp_path / "bad.cfg"
    good = (CONFIGS / "ranker_tiny.cfg").read_text()
    unknown = good.replace("[ranker.training]", "[ranker.training]\nunknown = 1")
    for bad in ("[pel]", unknown, good.replace("CrossEncoder.v1", "Nothing.v1")):
        config.write_text(bad)
        with pytest.raises(PelError, match="PEL-E390"):
            read_rank_settings(config)


# -- the parts -----------------------------------------------------------------------------------


def test_gold_is_added_in_the_place_of_the_last():
    found = np.array([[1, 2, 3], [4, 5, -1], [6, -1, -1], [-1, -1, -1]])
    gold = [np.array([9, 8]), np.array([5]), np.array([7]), np.array([4])]
    rows = with_gold(RankedRows(found, np.zeros((4, 3), np.float32)), gold)
    assert rows.tolist() == [[1, 2, 9], [4, 5, -1], [6, 7, -1], [4, -1, -1]]
    assert is_gold(rows, gold).tolist() == [[0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_a_hidden_surface_is_no_name_of_the_candidates(retriever):
    entity = Entity("C", "Cold", ("chill", "COLD", "flu"), ("T",))
    assert without_names(entity, ["cold"]) == Entity("C", "chill", ("flu",), ("T",))
    only = Entity("C", "cold", ("COLD",))
    assert without_names(only, ["cold"]) is only and without_names(entity, ["gout"]) is entity
    kb = KnowledgeBase([entity, Entity("D", "gout", ("cold",))])
    ranker = make_ranker()
    mentions = RankMentions([MentionQuery("cold", 0, 4)] * 2, [np.array([0])] * 2, np.zeros(2, np.int64))
    rows = np.array([[0, 1], [1, 0]])

    def cards(hidden):
        store = PairStore(ranker, kb, mentions, rows, hidden)
        return ["".join(ranker.tokenizer.decode(store.entities[i]).split()) for i in store.entity_rows.ravel()]

    plain = cards([False, False])
    assert all("cold" in card for card in plain)
    hidden = cards([False, True])
    assert hidden[:2] == plain[:2]
    assert not any("cold" in card for card in hidden[2:])
    assert hidden[2].startswith("[CLS]gout[SEP]") and hidden[3].startswith("[CLS]chill[SEP]t[SEP]flu")


def test_loss_is_cross_entropy():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=5, size=(20, 6))
    present = rng.random((20, 6)) < 0.7
    right = np.zeros((20, 6), dtype=bool)
    right[np.arange(20), rng.integers(6, size=20)] = True
    right[:5, 0] = True  # several may be right
    present |= right
    expected = []
    for i in range(20):  # literally, with the softmax of Eq. 1
        powers = [np.exp(s) if p else 0.0 for s, p in zip(scores[i], present[i], strict=True)]
        gold = sum(power for power, r in zip(powers, right[i], strict=True) if r)
        expected.append(-np.log(gold / sum(powers)))
    tensors = [torch.from_numpy(array) for array in (scores, right, present)]
    loss = CandidateCrossEntropy()(*tensors)
    np.testing.assert_allclose(loss.numpy(), expected, rtol=1e-10)
    far = CandidateCrossEntropy()(tensors[0] * 1e4, *tensors[1:])
    assert torch.isfinite(far).all()


@pytest.fixture
def batch(retriever):
    ranker = make_ranker()
    ranker.tower.transformer.eval()
    mentions = RankMentions.read(retriever, make_sense_documents(6), gold_queries, limit=0, seed=0)
    kb_rows = find_best(retriever, mentions.queries, 3).kb_rows
    kb_rows[-1, -1] = -1  # one has fewer
    store = PairStore(ranker, retriever.kb, mentions, kb_rows, [False] * len(mentions))
    planner = PairPlanner(store, batch_size=4, pad_id=ranker.tokenizer.pad_token_id, seed=0)
    return ranker, planner, planner.build(np.array([5, 0, 3]))


def test_a_batch_holds_the_pairs_in_their_places(batch):
    _, planner, made = batch
    assert made.present.tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
    assert made.places.tolist() == [0, 1, 3, 4, 5, 6, 7, 8]
    assert made.right.sum(axis=1).tolist() == [1, 1, 1]
    store = planner.store
    for pair, (mention, nth) in enumerate([(5, 0), (5, 1), (0, 0), (0, 1), (0, 2)]):
        entity = store.entities[store.entity_rows[mention, nth]]
        whole = [*store.mentions[mention], *entity[1:]]
        assert made.ids[pair][made.mask[pair] == 1].tolist() == whole
    plans = [planner.plan(epoch) for epoch in (0, 0, 1)]
    assert [np.concatenate(plan).tolist() for plan in plans[:2]] == [np.concatenate(plans[0]).tolist()] * 2
    assert all(sorted(np.concatenate(plan)) == list(range(6)) for plan in plans)


def test_fgsm_moves_entities_only_and_makes_them_harder(batch):
    ranker, _, made = batch
    fgsm = FGSM(epsilon=0.05)
    plain, regular = PairObjective(ranker.tower), PairObjective(ranker.tower, regularizer=fgsm)
    seen = []
    forward = ranker.tower.forward
    ranker.tower.forward = lambda ids, mask, embeddings=None: seen.append(embeddings) or forward(ids, mask, embeddings)
    set_dropout(ranker.tower, 0.0)  # no dropout: the two forwards differ by the delta alone
    clean, _ = plain(made)
    assert seen == [None]
    total, metrics = regular(made)
    assert metrics["loss_adversarial"] > float(clean.detach())
    assert float(total.detach()) == pytest.approx(float(clean.detach()) + metrics["loss_adversarial"], rel=1e-5)
    delta = (seen[2] - seen[1]).detach().numpy()
    entity = ranker.tower.entity_part(torch.from_numpy(made.ids), torch.from_numpy(made.mask)).numpy()
    assert np.abs(delta[entity == 0]).max() == 0
    np.testing.assert_allclose(np.abs(delta[entity == 1]), 0.05, atol=1e-5)
    total.backward()
    assert all(torch.isfinite(p.grad).all() for p in ranker.tower.head.parameters())
    regular.eval()
    seen.clear()
    regular(made)
    assert seen == [None]


# -- configs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ranker_minilm", "ranker_sapbert", "ranker_tiny", "triplet_minilm", "triplet_tiny"])
def test_config(name):
    settings = read_rank_settings(CONFIGS / f"{name}.cfg")
    assert settings.paths.pipeline and settings.paths.train and settings.paths.dev
    assert (CONFIGS / f"{name}.cfg").read_text(encoding="utf8").startswith("# "), "says what it is for"
    recipe_of(settings.ranker.model, settings.ranker)  # its parts fit


def test_every_ranker_has_a_recipe():
    recipes, rankers = (registry.parts(name).values() for name in ("pel_rank_recipes", "pel_rankers"))
    assert set(recipes) >= set(rankers)

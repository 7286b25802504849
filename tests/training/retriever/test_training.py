"""The trainer: learns, writes what it says, and each update is the one of the books."""

import math
import sys

import numpy as np
import pytest
import torch

from spacy_pel.corpora import read_corpus, write_corpus
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.optimizer import make_optimizer, set_learn_rate
from spacy_pel.training.retriever.batches import BatchPlanner
from spacy_pel.training.retriever.dev import DevRetrieval
from spacy_pel.training.retriever.objective import Objective
from spacy_pel.training.retriever.settings import DevSettings, read_settings
from spacy_pel.training.settings import OptimizerSettings
from spacy_pel.types import Document, Entity, Mention, MentionInText

from ..conftest import CONFIG, ENTITIES, NAMES, SMALL, build_examples, document, evaluations, make_documents, metrics

pytestmark = pytest.mark.slow


def test_ten_mentions_are_learnt_by_heart(train, tmp_path):
    # their surfaces have nothing to do with the names of their entities
    words = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr", "st"]
    documents = [
        Document(f"d{i}", f"we saw {word} then", [Mention(7, 9, "", (f"C{i}",))]) for i, word in enumerate(words)
    ]
    write_corpus(tmp_path / "ten.jsonl", documents)
    best = train(
        tmp_path / "run",
        paths__train=str(tmp_path / "ten.jsonl"),
        paths__dev=str(tmp_path / "ten.jsonl"),
        pel__encoder__tied=False,
        pel__loss__alpha=16.0,
        pel__negatives__n_negatives=16,
        pel__positives__card=0.0,
        pel__positives__name=1.0,
        pel__positives__alias_share=0.0,
        pel__training__max_steps=300,
        pel__training__eval_frequency=50,
        pel__training__patience=1,
    )
    assert best["recall@1"] == 1.0
    log = metrics(tmp_path / "run")
    assert log[-1]["loss"] < 0.5 * log[0]["loss"]
    encoder = load_encoder(tmp_path / "run" / "model-best")
    mentions = [MentionInText(d.text, 7, 9) for d in documents]
    scores = encoder.encode_mentions(mentions) @ encoder.encode_names(NAMES).T
    assert scores.argmax(axis=1).tolist() == list(range(10))


def test_metrics_and_files(train, tmp_path):
    best = train(tmp_path / "run", pel__training__max_steps=10)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        *("cache", "checkpoint", "learning_curve.png", "metrics.jsonl", "model-best", "model-last", "steps.jsonl")
    ]
    log = metrics(tmp_path / "run")
    assert [record["step"] for record in log] == [2, 4, 6, 8, 10], "every eval_frequency steps"
    for record in log:
        assert set(record) == {
            *("step", "epoch", "loss", "similarity+", "similarity-", "accuracy", "grad_norm", "learn_rate"),
            *("recall@1", "recall@5", "mrr", "examples_per_second", "seconds"),
        }
        assert all(math.isfinite(value) for value in record.values())
        assert record["loss"] > 0 and record["grad_norm"] > 0 and record["examples_per_second"] > 0
        assert 0 <= record["recall@1"] <= record["mrr"] <= 1
        assert record["recall@1"] <= record["recall@5"] <= 1
        assert record["seconds"] > 0
        assert -1 <= record["similarity+"] <= 1 and 0 <= record["accuracy"] <= 1
    assert best == max(log, key=lambda record: (record["recall@1"], -record["step"]))
    assert log[-1]["learn_rate"] < log[0]["learn_rate"]
    last = load_encoder(tmp_path / "run" / "model-last")
    best_encoder = load_encoder(tmp_path / "run" / "model-best")
    assert (best_encoder.fingerprint == last.fingerprint) == (best["step"] == 10)


def test_records_are_the_measures_of_the_untrained_and_of_the_best_encoder(train, data, tmp_path):
    best = train(tmp_path / "run", pel__training__dev__metric="mrr")
    settings = read_settings(CONFIG, {**data, **SMALL})
    settings.pel.encoder.initialize()
    kb = KnowledgeBase.from_disk(settings.paths.kb)
    dev = DevRetrieval(kb, read_corpus(settings.paths.dev), settings.pel.training.dev, 0)
    first = evaluations(tmp_path / "run")[0]
    assert first == {"step": 0, "epoch": 0, **dev(settings.pel.encoder), "seconds": first["seconds"]}
    scores = dev(load_encoder(tmp_path / "run" / "model-best"))
    assert {name: best[name] for name in scores} == pytest.approx(scores)


@pytest.mark.parametrize(
    ("steps", "every", "expected"),
    [(3, 500, [1, 2, 3]), (10, 500, [2, 4, 6, 8, 10]), (13, 3, [2, 4, 6, 8, 10, 12, 13]), (8, 1, list(range(1, 9)))],
)
def test_five_evaluations_or_more(train, tmp_path, steps, every, expected):
    train(tmp_path / "run", pel__training__max_steps=steps, pel__training__eval_frequency=every)
    assert [record["step"] for record in metrics(tmp_path / "run")] == expected


def test_a_training_that_brings_nothing_says_so(train, tmp_path, caplog):
    caplog.set_level("WARNING", logger="spacy_pel")
    nothing = {"pel__training__optimizer__learn_rate": 1e-30, "pel__training__optimizer__weight_decay": 0.0}
    best = train(tmp_path / "run", pel__training__max_steps=2, **nothing)
    assert best["step"] == 1 and (tmp_path / "run" / "model-best").is_dir(), "step 0 is for comparison only"
    assert "PEL-W301" in caplog.text and "at step 0" in caplog.text


def test_without_matplotlib_one_line_names_the_extra(train, tmp_path, caplog, monkeypatch):
    caplog.set_level("INFO", logger="spacy_pel")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "spacy_pel.evaluation.figures", raising=False)
    train(tmp_path / "run", pel__training__max_steps=1)
    lines = [record.getMessage() for record in caplog.records if "learning curve" in record.getMessage()]
    assert len(lines) == 1 and "spacy-pel[report]" in lines[0]
    assert not (tmp_path / "run" / "learning_curve.png").exists()


# 41 mentions and 41 bare names make 11 batches of 8
@pytest.mark.parametrize(
    ("epochs", "steps", "changes", "last"),
    [(2, 0, {}, 22), (1, 50, {}, 11), (2, 0, {"accumulate_gradient": 2}, 10), (2, 0, {"limit": 3}, 2)],
)
def test_epochs_and_steps(train, tmp_path, epochs, steps, changes, last):
    changes = {"max_epochs": epochs, "max_steps": steps, **changes}
    train(tmp_path / "run", **{f"pel__training__{name}": value for name, value in changes.items()})
    assert metrics(tmp_path / "run")[-1]["step"] == last


@pytest.mark.parametrize("accumulate", [1, 3])
def test_updates_are_those_of_a_plain_loop(train, data, tmp_path, accumulate):
    changes = {"pel.training.accumulate_gradient": accumulate, "pel.encoder.tied": False}
    train(tmp_path / "run", **{name.replace(".", "__"): value for name, value in changes.items()})

    settings = read_settings(CONFIG, {**data, **SMALL, **changes})
    pel, encoder = settings.pel, settings.pel.encoder
    encoder.initialize()
    store = build_examples(KnowledgeBase.from_disk(settings.paths.kb), make_documents(), encoder)
    planner = BatchPlanner(
        store, views=pel.positives, negatives=pel.negatives, batch_size=8, pad_id=0, seed=settings.seed
    )
    objective = Objective(encoder.towers, pel.loss).train()
    optimizer = make_optimizer(objective, pel.training.optimizer)
    batches = [planner.build(rows, i) for epoch in range(4) for i, rows in numbered(planner, epoch)]
    for step in range(12):
        torch.manual_seed(int(np.random.default_rng([settings.seed, 4, step]).integers(2**62)))
        set_learn_rate(optimizer, step, 12, pel.training.optimizer.warmup)
        for batch in batches[step * accumulate : (step + 1) * accumulate]:
            (objective(batch)[0] / accumulate).backward()
        torch.nn.utils.clip_grad_norm_(objective.parameters(), pel.training.optimizer.clip)
        optimizer.step()
        optimizer.zero_grad()
    encoder.changed()
    trained = load_encoder(tmp_path / "run" / "model-last")
    for (name, ours), theirs in zip(encoder.towers.named_parameters(), trained.towers.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6, msg=name)


def numbered(planner, epoch):
    plan = planner.plan(epoch)
    return ((epoch * len(plan) + i, rows) for i, rows in enumerate(plan))


# -- optimiser and schedule ------------------------------------------------------------------------


@pytest.mark.parametrize(("warmup", "peak"), [(0.25, 24), (0.0, 0), (1.0, 99)])
def test_warm_up_and_decay(warmup, peak):
    weight = torch.nn.Parameter(torch.zeros(2, 2))
    optimizer = torch.optim.AdamW([{"params": [weight], "peak": 0.5, "schedule": True}])
    factors = [set_learn_rate(optimizer, step, 100, warmup) for step in range(100)]
    assert optimizer.param_groups[0]["lr"] == 0.5 * factors[-1]
    assert 0 < min(factors) and max(factors) == 1.0
    assert factors.index(1.0) == peak
    up, down = np.diff(factors[: peak + 1]), np.diff(factors[peak + 1 :])
    np.testing.assert_allclose(up, up[:1].repeat(len(up)), atol=1e-12)
    np.testing.assert_allclose(down, down[:1].repeat(len(down)), atol=1e-12)
    assert (up > 0).all() and (down < 0).all()


def test_parameters_of_the_loss_have_a_rate_of_their_own():
    class Proxies(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.proxies = torch.nn.Parameter(torch.zeros(3, 2))

    objective = Objective(torch.nn.ModuleDict({"mention": torch.nn.Linear(2, 2)}), Proxies())
    optimizer = make_optimizer(objective, OptimizerSettings(learn_rate=1e-3, proxy_learn_rate=1e-1))
    rates = {id(p): group["peak"] for group in optimizer.param_groups for p in group["params"]}
    decays = {id(p): group["weight_decay"] for group in optimizer.param_groups for p in group["params"]}
    linear = objective.towers["mention"]
    assert rates == {id(linear.weight): 1e-3, id(linear.bias): 1e-3, id(objective.loss.proxies): 1e-1}
    assert decays == {id(linear.weight): 0.01, id(linear.bias): 0.0, id(objective.loss.proxies): 0.0}


# -- dev metrics ------------------------------------------------------------------------------------


def test_dev_figures_are_those_of_a_slow_ranking():
    kb, encoder = KnowledgeBase(ENTITIES), HashEmbed(width=64)
    documents = make_documents(8) + [
        Document("n", "fever and acute gout or fever", [Mention(0, 5), Mention(10, 20, "", ("X1",))])
    ]
    several = Document("s", "stroke of gout", [Mention(0, 6, "", ("X1", "C9", "C7"))])
    settings = DevSettings(n_mentions=0, n_entities=0, recall_at=[1, 3])
    dev = DevRetrieval(kb, [*documents, several], settings, 0)
    assert len(dev.mentions) == 18 and dev.gold[-1] == ["C9", "C7"]
    ranks = []
    for mention, gold in zip(dev.mentions, dev.gold, strict=True):
        vector = encoder.encode_mentions([mention])[0]
        best = {}
        for entity in ENTITIES:
            rows = encoder.encode_names([entity.canonical_name, *entity.aliases])
            best[entity.concept_id] = max(rows @ vector)
        ranking = sorted(best, key=best.get, reverse=True)
        ranks.append(1 + min(ranking.index(id_) for id_ in gold))
    ranks = np.array(ranks)
    assert (ranks == 1).any()
    assert dev(encoder) == pytest.approx(
        {
            "recall@1": (ranks == 1).mean(),
            "recall@3": (ranks <= 3).mean(),
            "mrr": (1 / np.where(ranks <= 3, ranks, np.inf)).mean(),
        }
    )


def test_dev_looks_at_the_rows_that_are_set():
    """The paper's entities are cards alone. Here they say nothing of the aliases, which are found by name."""
    kb = KnowledgeBase([Entity("C1", "pertussis", ("whooping cough",), (), "bacteria"), *ENTITIES])
    documents = [Document("w", "whooping cough", [Mention(0, 14, "", ("C1",))])]
    recall = {}
    for kinds in (["card"], ["alias"], ["card", "alias"]):
        dev = DevRetrieval(kb, documents, DevSettings(n_entities=0, recall_at=[1], kinds=kinds), 0)
        recall[tuple(kinds)] = dev(HashEmbed(width=64))["recall@1"]
    assert recall == {("card",): 0.0, ("alias",): 1.0, ("card", "alias"): 1.0}


def test_dev_draws_follow_from_the_seed():
    entities = [Entity(f"X{i}", f"name {i}") for i in range(100)] + ENTITIES
    kb = KnowledgeBase(entities)
    settings = DevSettings(n_mentions=5, n_entities=10)
    one, two, other = (DevRetrieval(kb, make_documents(), settings, seed) for seed in (0, 0, 1))
    assert one.mentions == two.mentions != other.mentions
    assert list(one.kb.entities()) == list(two.kb.entities())
    assert len(one.mentions) == 5 and 10 <= len(one.kb) <= 15
    assert all(id_ in one.kb for ids in one.gold for id_ in ids)


# -- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kb", "train", "dev"])
@pytest.mark.parametrize("path", [None, "nowhere"])
def test_a_path_that_is_not_set_or_not_there(train, tmp_path, name, path):
    with pytest.raises(PelError, match=path or f"paths.{name}") as error:
        train(tmp_path / "run", **{f"paths__{name}": path and str(tmp_path / path)})
    assert "\n" not in str(error.value) and not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["train", "dev"])
def test_a_corpus_of_other_ids(train, tmp_path, name):
    write_corpus(tmp_path / "other.jsonl", [document(0, [NAMES[0]], ids=("X1",))])
    with pytest.raises(PelError, match="ids") as error:
        train(tmp_path / "run", **{f"paths__{name}": str(tmp_path / "other.jsonl")})
    assert "\n" not in str(error.value) and not (tmp_path / "run").exists()

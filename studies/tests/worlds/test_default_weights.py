"""default-weights: the draw, the fit, worlds left out together, and the command."""

import json

import numpy as np
import pytest
import spacy
from cli.conftest import run
from spacy_pel_studies.worlds import default_weights
from spacy_pel_studies.worlds.default_weights import WeightTask, fit_weights, left_out

from spacy_pel.candidates.evidence import FEATURES
from spacy_pel.corpora import write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiner import DEFAULT_WEIGHTS
from spacy_pel.types import CandidateTable, Document, Entity, Mention


def made_up_task(name, world, *, telling="edit", n=60, n_forms=20):
    """Two candidates each, and one feature that tells which is right; every third form is frequent."""
    rng = np.random.default_rng(len(name))
    right = rng.integers(2, size=n)
    features = {each: rng.random((n, 2)).astype(np.float32) for each in FEATURES}
    for each in ("seen", "vote", "prior", "mention"):
        features[each] = np.zeros((n, 2), dtype=np.float32)
    features[telling] = np.zeros((n, 2), dtype=np.float32)
    features[telling][np.arange(n), right] = 1
    forms = np.where(np.arange(n) < n_forms, np.arange(n), 0)
    table = CandidateTable(np.tile([3, 8], (n, 1)), features)
    return WeightTask(name, world, table, [np.array([[3, 8][one]]) for one in right], forms)


def test_each_form_is_drawn_as_often():
    task = made_up_task("a", "A")
    table, gold = task.drawn(0)
    assert len(table) == len(gold) == default_weights.DRAWN
    drawn = task._replace(table=table, gold=gold)
    edits = drawn.table.features["edit"]
    rows = np.array([3, 8])[edits.argmax(axis=1)]
    assert np.array_equal(rows, np.concatenate(gold))  # each mention has its own gold entity
    lines = {tuple(line) for line in table.features["name"].round(6).tolist()}
    assert len(lines) == 20
    again = task.drawn(0)[0]
    assert np.array_equal(again.features["name"], table.features["name"])
    assert not np.array_equal(task.drawn(1)[0].features["name"], table.features["name"])


def test_recall_over_mentions_and_over_forms():
    task = made_up_task("a", "A")
    weights = {**dict.fromkeys(DEFAULT_WEIGHTS, 0.0), "edit": 1.0}
    assert task.recall(weights) == (1.0, 1.0)
    wrong = task.recall({**weights, "edit": -1.0})
    assert wrong == (0.0, 0.0)
    some = task._replace(gold=[np.array([99])] + task.gold[1:20] + [np.array([99])] * 40)  # the form 0
    assert some.recall(weights) == (pytest.approx(19 / 60), pytest.approx(19 / 20))


def test_what_tells_gets_the_weight_and_worlds_are_left_out_together():
    tasks = [made_up_task("one", "A"), made_up_task("two", "A", telling="partial"), made_up_task("three", "B")]
    weights = fit_weights(tasks[:1])
    # evidence that no mention has keeps its default weight
    fitted = {name: abs(weight) for name, weight in weights.items() if weight != DEFAULT_WEIGHTS[name]}
    assert max(fitted, key=fitted.__getitem__) == "edit"
    rows = {row["task"]: row for row in left_out(tasks)}
    assert all(row["own"] == 1.0 for row in rows.values())
    assert rows["one"]["others"] == 1.0  # B has the same kind of evidence
    assert rows["two"]["others"] < 0.9  # nothing but its own world says that "partial" tells


def test_features_that_a_task_lacks():
    task, other = made_up_task("a", "A"), made_up_task("bb", "B")
    del other.table.features["variant"]
    other.table.features["topic"] = np.zeros(other.table.kb_rows.shape, np.float32)
    weights = fit_weights([task, other])
    assert set(weights) == set(DEFAULT_WEIGHTS) and np.isfinite(list(weights.values())).all()


@pytest.fixture
def tasks(tmp_path):
    """Two ontologies with a pipeline each."""
    given = []
    for world, things in (("A", ["lamp", "pier", "rope"]), ("B", ["oven", "rack", "pot"])):
        names = [f"{place} {thing}" for place in ("harbour", "castle", "river") for thing in things]
        kb = KnowledgeBase.build(
            [Entity(f"{world}{i}", name, (f"{name} thing",)) for i, name in enumerate(names)], tmp_path / world / "kb"
        )
        nlp = spacy.blank("en")
        config = {"encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1", "width": 64}}
        nlp.add_pipe("proxy_entity_linker", config=config).initialize(lambda: [], nlp=nlp, kb_loader=lambda kb=kb: kb)
        nlp.to_disk(tmp_path / world / "pipeline")
        documents = []
        for i, name in enumerate(names):
            text = f"They saw the {name}s here."
            documents.append(Document(f"{i}", text, [Mention(13, 14 + len(name), "X", (f"{world}{i}",))]))
        documents.append(Document("nil", "They saw a ghost.", [Mention(11, 16, "X", ())]))
        write_corpus(tmp_path / world / "dev.jsonl", documents)
        given += ["--task", f"{world}={tmp_path / world / 'pipeline'},{tmp_path / world / 'dev.jsonl'}"]
    return given


def test_the_command(tasks, tmp_path):
    result = run("research", "default-weights", tmp_path / "out", *tasks, "--json")
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "out" / "default_weights.json").read_text())
    assert report == result.json and set(report["weights"]) == set(DEFAULT_WEIGHTS)
    assert report["current"] == DEFAULT_WEIGHTS
    assert [row["mentions"] for row in report["results"]] == [9, 9]  # without the NIL ones
    table = (tmp_path / "out" / "default_weights.md").read_text()
    assert "| mean |" in table and "| formula_unseen |" in table


def test_a_corpus_of_another_knowledge_base(tasks, tmp_path):
    swapped = [tasks[0], tasks[1], "--task", f"C={tmp_path / 'A' / 'pipeline'},{tmp_path / 'B' / 'dev.jsonl'}"]
    result = run("research", "default-weights", tmp_path / "out", *swapped)
    assert result.code == 2 and "got none among 10" in result.err


@pytest.mark.parametrize("given", ["A=p,c", "A=p", "=p,c"])
def test_tasks_of_one_world(given, tmp_path):
    result = run("research", "default-weights", tmp_path / "out", "--task", given, "--task", "A=q,c")
    assert result.code == 2 and "PEL-E245" in result.err

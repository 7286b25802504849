"""default-nil: which mentions are NIL, the fit against scikit-learn's meaning, and the command."""

import json

import numpy as np
import pytest
from cli.conftest import run
from spacy_pel_studies.worlds import default_nil
from spacy_pel_studies.worlds.default_nil import by_encoder, fit_weights, measure
from spacy_pel_studies.worlds.nil_tasks import draw_world, nil_tasks

from spacy_pel.corpora import write_corpus
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.linking.nil import WITH_VECTORS, WITHOUT_VECTORS
from spacy_pel.types import Document, Entity, Mention
from spacy_pel.util import normalize_alias

pytestmark = pytest.mark.slow

PLACES = "harbour kitchen railway castle market garden river tower bridge forest island valley".split()
THINGS = {"A": ["lamp", "pier", "store", "rope"], "B": ["pan", "oven", "rack", "pot"]}
SHARED = "bench"  # in both worlds


def build(path, world):
    """Entities with an alias; each is mentioned by its name and in other words."""
    names = [f"{place} {thing}" for place in PLACES for thing in (*THINGS[world], SHARED)]
    entities = [Entity(f"{world}{i}", name, (f"{name} thing",)) for i, name in enumerate(names)]
    KnowledgeBase.build(entities, path / world / "kb")
    documents = []
    for i, name in enumerate(names):
        for number, surface in enumerate((name, f"{name}s", name)):
            text = f"They saw the {surface} here."
            mention = Mention(13, 13 + len(surface), "X", (f"{world}{i}",))
            documents.append(Document(f"{world}{i}.{number}", text, [mention]))
    documents.append(Document("nil", "They saw a ghost.", [Mention(11, 16, "X", ())]))
    write_corpus(path / world / "dev.jsonl", documents)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("default_nil")
    for world in THINGS:
        build(path, world)
    return path


@pytest.fixture(scope="module")
def worlds(folder):
    return {
        name: draw_world(name, folder / name / "kb", folder / name / "dev.jsonl", n_mentions=50, n_entities=55, seed=1)
        for name in THINGS
    }


def test_a_part_of_a_world(worlds, folder):
    world = worlds["A"]
    whole = KnowledgeBase.from_disk(folder / "A" / "kb")
    assert len(world.kb) == 55 and len(world.mentions) == len(world.gold) == 50
    forms = [normalize_alias(mention.surface) for mention in world.mentions]
    assert len(set(forms)) == 50 and "ghost" not in forms
    for mention, rows in zip(world.mentions, world.gold, strict=True):
        (name,) = [world.kb.name_at(int(row)) for row in rows]
        assert mention.surface in (name, f"{name}s") and whole.ids(name) == world.kb.ids(name)


def test_a_third_of_the_mentions_is_nil_and_their_entities_are_not_allowed(worlds):
    large, small = nil_tasks(worlds, "A", seed=0)
    assert small.size <= large.size < len(worlds["A"].kb)
    world = worlds["A"]
    surfaces = {mention: rows for mention, rows in zip(world.mentions, world.gold, strict=True)}
    for task in (large, small):
        assert task.is_nil.mean() == pytest.approx(1 / 3, abs=0.03)
        assert task.size == task.allowed.sum()
        foreign = 0
        for mention, rows in zip(task.mentions, task.gold, strict=True):
            if len(rows):
                assert task.allowed[rows].all() and rows.tolist() == surfaces[mention].tolist()
            elif mention in surfaces:
                assert not task.allowed[surfaces[mention]].any()
            else:
                foreign += 1
                assert SHARED not in mention.surface  # this world has it, too
        assert foreign == pytest.approx(task.is_nil.sum() / 2, abs=1)
    again = nil_tasks(worlds, "A", seed=0)[0]
    assert again.mentions == large.mentions and (again.allowed == large.allowed).all()


def test_fitted_weights_find_nil_in_the_world_left_out(worlds):
    tasks = {name: nil_tasks(worlds, name, seed=0) for name in worlds}
    samples = list(by_encoder("hash", HashEmbed(width=64), worlds, tasks))
    weights = fit_weights([one for one in samples if one.world == "B"])
    assert list(weights) == list(WITH_VECTORS) and weights["distance"] > 0 > weights["exact"]
    result = measure(next(one for one in samples if one.world == "A"), weights)
    assert result["f1"] > 0.8 and result["aupr"] > 0.8 and result["lost"] < 0.2
    assert result["accuracy"] > result["accuracy_linked"]
    never = measure(samples[0], {**dict.fromkeys(weights, 0.0), "bias": -1.0})
    assert never["recall"] == never["lost"] == 0.0 and never["accuracy"] == never["accuracy_linked"]
    always = measure(samples[0], {**dict.fromkeys(weights, 0.0), "bias": 1.0})
    assert always["recall"] == always["lost"] == always["right_lost"] == 1.0
    assert always["accuracy"] == always["precision"] == pytest.approx(samples[0].is_nil.mean())
    # a P(NIL) of 0.45: NIL where the share of the first candidate is below 0.45 / 0.55
    halfway = measure(samples[0], {**dict.fromkeys(weights, 0.0), "bias": np.log(0.45 / 0.55)})
    best = LinearCombiner()(samples[0].table).max(axis=1)
    called = ~samples[0].filled | (best < 0.45 / 0.55)
    assert 0 < called.mean() < 1 and halfway["lost"] == pytest.approx(called[~samples[0].is_nil].mean())


def test_the_command(folder, tmp_path, monkeypatch):
    given = [
        word for name in THINGS for word in ("--world", f"{name}={folder / name / 'kb'},{folder / name / 'dev.jsonl'}")
    ]
    args = ["research", "default-nil", tmp_path / "out", *given, "--encoder", "random:layers=1,width=32"]
    args += ["--mentions", 20, "--entities", 40, "--json"]
    result = run(*args)
    assert result.code == 0, result.err
    report = json.loads((tmp_path / "out" / "default_nil.json").read_text())
    assert report == result.json and list(report["worlds"]) == list(THINGS)
    assert {kind: list(own) for kind, own in report["weights"].items()} == {
        "vectors": list(WITH_VECTORS),
        "names": list(WITHOUT_VECTORS),
    }
    assert len(report["results"]) == 2 * 2 * (1 + len(default_nil.BY_NAMES))
    table = (tmp_path / "out" / "default_nil.md").read_text()
    # exact names alone have no candidates for NIL mentions here, so that nothing can be fitted on them
    assert "| exact names, left out as well |" in table and "## By vectors" in table
    assert "| tf-idf |" in table and "| tf-idf, left out as well |" not in table

    def broken(*_):
        raise AssertionError("found again")

    monkeypatch.setattr(default_nil, "by_encoder", broken)
    monkeypatch.setattr(default_nil, "by_names", broken)
    assert run(*args).json == report  # the candidates of the first time


@pytest.mark.parametrize("given", [["A=kb"], ["A=kb,dev.jsonl"], ["A=kb,dev.jsonl"] * 2, ["=kb,dev.jsonl"]])
def test_worlds_that_are_not_two(given, tmp_path):
    words = [word for one in given for word in ("--world", one)]
    result = run("research", "default-nil", tmp_path / "out", *words)
    assert result.code == 2 and "PEL-E244" in result.err

"""The zero-shot experiment on wikis in the format of ZESHEL, and its rankings by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import run
from spacy_pel_studies.worlds.ranker import by_ranker
from spacy_pel_studies.worlds.ranking import by_encoder, by_name, names_first
from spacy_pel_studies.worlds.unseen_world import UnseenWorld

from spacy_pel.corpora import read_corpus
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.ranker.cross_encoder import CrossEncoder
from spacy_pel.types import Entity, MentionInText, RankingTask

from .conftest import TINY

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def call(worlds, output, *more):
    args = [output, "--worlds", worlds, "--config", ROOT / "configs" / "zeshel.cfg"]
    for name, value in TINY.items():
        args += ["--set", f"{name}={value}"]
    return run("research", "worlds", *args, *more)


@pytest.fixture(scope="module")
def ran(worlds, tmp_path_factory):
    output = tmp_path_factory.mktemp("output")
    result = call(worlds, output, "--train", "harbour,kitchen", "--test", "railway,castle")
    assert result.code == 0, result.err
    return output, result.out


def test_metrics_by_world_and_their_mean(ran):
    output, stdout = ran
    report = json.loads((output / "worlds.json").read_text())
    assert (report["train"], report["test"]) == (["harbour", "kitchen"], ["railway", "castle"])
    assert set(report["coverage"]) == {"railway", "castle"}
    assert report["coverage"]["castle"]["in_kb"] == 6 and report["coverage"]["castle"]["entities"] == 6
    names = report["systems"]["exact names"]
    # three of six mentions are whole titles: they match, the others do not
    assert names["groups"]["castle"]["recall@1"] == names["groups"]["railway"]["recall@64"] == 0.5
    assert names["macro"]["recall@1"] == names["micro"]["recall@1"] == 0.5
    for system in report["systems"].values():
        shares = [system["groups"][world]["recall@4"] for world in report["test"]]
        assert system["macro"]["recall@4"] == pytest.approx(np.mean(shares))
        assert system["macro"]["recall@64"] == (0.5 if system is names else 1.0), "a KB of six is found whole"
        assert system["macro"]["recall@1_low"] <= system["macro"]["recall@1"] <= system["macro"]["recall@1_high"]
    assert "trained encoder, exact names first - exact names" in report["differences"]
    assert stdout.strip() == (output / "worlds.md").read_text().strip()
    assert "Mean over the worlds" in stdout and "| trained encoder |" in stdout


def test_the_tables_have_the_papers_cuts(ran):
    """Cai et al. (2023), Table 8."""
    assert "| | recall@1 | recall@4 | recall@8 | recall@16 | recall@32 | recall@64 |" in ran[1]
    assert "val:" not in ran[1] and "validat" not in ran[1]


def test_names_of_the_training_worlds_are_told_apart(ran):
    names = json.loads((ran[0] / "worlds.json").read_text())["names"]
    # "Spice Rack" is a page of the kitchen, too, and the castle has a mention of it
    assert names["castle"]["n_known"] + names["castle"]["n_new"] == 6
    assert names["castle"]["n_known"] == 1 and set(names["castle"]["new"]) == set(names["castle"]["known"])


def test_predictions_can_be_compared(ran):
    lines = (ran[0] / "predictions" / "castle" / "trained_encoder" / "predictions.jsonl").read_text()
    records = [json.loads(line) for line in lines.splitlines()]
    assert len(records) == 6 and all(len(one["candidates"]) == 6 for one in records)
    assert records[0]["gold"][0].startswith("castle") and records[0]["kb_id"] == records[0]["candidates"][0][0]


def test_a_trained_model_is_taken_as_it_is(worlds, ran, tmp_path):
    model = ran[0] / "encoder" / "model-best"
    args = ["--train", "harbour,kitchen", "--test", "railway,castle", "--model", str(model), "--json"]
    result = call(worlds, tmp_path, *args)
    again, first = result.json, json.loads((ran[0] / "worlds.json").read_text())
    assert {**again, "model": ""} == {**first, "model": ""}
    assert not (tmp_path / "encoder").exists()


def test_bad_input_is_one_line(worlds, tmp_path):
    result = call(worlds, tmp_path, "--train", "harbour", "--test", "nowhere")
    assert result.code == 2 and "nowhere" in result.err and result.err.count("\n") == 1


# -- validation, and a ranker ---------------------------------------------------------------------

RERANKED = "trained encoder, reranked"
RANKER = {"candidates.n": 4, "training.max_steps": 6, "training.eval_frequency": 3}


@pytest.fixture(scope="module")
def ranked(worlds, tmp_path_factory):
    output = tmp_path_factory.mktemp("ranked")
    args = ["--train", "harbour,kitchen", "--val", "castle", "--test", "railway"]
    args += ["--ranker", ROOT / "configs" / "ranker_tiny.cfg"]
    for name, value in RANKER.items():
        args += ["--set", f"ranker.{name}={value}"]
    result = call(worlds, output, *args)
    assert result.code == 0, result.err
    return output, result.out


def read_predictions(output, world, system):
    folder = output / "predictions" / world / system.replace(", ", " ").replace(" ", "_")
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]


def test_validation_is_reported_beside_test(ranked, ran):
    output, stdout = ranked
    report, other = (json.loads((one / "worlds.json").read_text()) for one in (output, ran[0]))
    assert (report["val"], report["test"]) == (["castle"], ["railway"])
    for kind, world in (("val_systems", "castle"), ("systems", "railway")):
        assert set(report[kind]["exact names"]["groups"]) == {world}
        for name, of_both in other["systems"].items():
            own = report[kind][name]
            assert own["groups"][world]["recall@1"] == of_both["groups"][world]["recall@1"]
            assert own["macro"]["recall@1"] == own["micro"]["recall@1"] == own["groups"][world]["recall@1"]
    head = "| | val: castle | val: mean | val: all mentions | test: railway | test: mean | test: all mentions |"
    assert head in stdout and "| exact names | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 |" in stdout
    assert "**castle: 6 mentions" in stdout and "**Mean over the worlds of validation**" in stdout


def test_the_ranker_is_trained_on_candidates_of_the_mentions_world(worlds, ranked):
    output, _ = ranked
    kb = KnowledgeBase.from_disk(output / "joined" / "kb")
    encoder = load_encoder(output / "encoder" / "model-best")
    for split in ("train", "dev"):
        expected = []
        for world in ("harbour", "kitchen"):
            own = KnowledgeBase.from_disk(worlds / world / "kb")
            documents = read_corpus(worlds / world / f"{split}.jsonl")
            mentions = [MentionInText(d.text, m.start, m.end) for d in documents for m in d.mentions]
            nearest = by_encoder(own, encoder, mentions)
            expected += [[f"{world}/{one}" for one in own.ids_at(list(found)[:4])] for found in nearest]
        with np.load(output / "ranker" / "candidates" / f"{split}.npz") as saved:
            assert [kb.ids_at(rows[rows >= 0]) for rows in saved["kb_rows"]] == expected
    steps = [json.loads(line)["step"] for line in (output / "ranker" / "metrics.jsonl").open()]
    assert steps == [0, 1, 2, 3, 4, 5, 6], "the settings of the command are the ranker's"


@pytest.mark.parametrize(("kind", "world"), [("val_systems", "castle"), ("systems", "railway")])
def test_unnormalised_accuracy_of_the_ranker(worlds, ranked, kind, world):
    """By the saved ranker, mention for mention, over the retriever's first four."""
    output, stdout = ranked
    report = json.loads((output / "worlds.json").read_text())
    ranker = CrossEncoder().from_disk(output / "ranker" / "model-best")
    unseen = UnseenWorld(world, worlds, "test")
    before, after = (read_predictions(output, world, name) for name in ("trained encoder", RERANKED))
    hits = []
    for mention, one, other in zip(unseen.mentions, before, after, strict=True):
        ids, reranked = ([i for i, _ in record["candidates"]] for record in (one, other))
        entities = [unseen.kb[i] for i in ids[:4]]
        scores = ranker.score(RankingTask([mention], entities, np.arange(4)[None]))[0]
        assert reranked == [ids[i] for i in np.argsort(-scores, kind="stable")] + ids[4:]
        hits.append(other["kb_id"] in other["gold"])
    metrics, retriever = (report[kind][RERANKED]["groups"][world], report[kind]["trained encoder"]["groups"][world])
    assert metrics["recall@1"] == pytest.approx(np.mean(hits))
    assert [metrics[f"recall@{k}"] for k in (4, 64)] == [retriever[f"recall@{k}"] for k in (4, 64)]
    assert f"| {RERANKED} |" in stdout and f"{RERANKED} - trained encoder" in report["differences"]


def test_settings_of_a_ranker_without_one(worlds, tmp_path):
    args = ["--train", "harbour", "--test", "railway", "--set", "ranker.training.max_steps=5"]
    result = call(worlds, tmp_path, *args)
    assert result.code == 2 and "ranker" in result.err and result.err.count("\n") == 1


# -- rankings -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kb():
    entities = [
        Entity("A", "cold sore", ("herpes labialis",)),
        Entity("B", "common cold", ("cold", "acute coryza")),
        Entity("C", "cold"),
        Entity("D", "fever"),
    ]
    return KnowledgeBase(entities)


def ids(kb, ranking):
    return kb.ids_at(list(ranking))


def test_by_name(kb):
    rankings = by_name(kb, ["Cold", "warm"])
    assert ids(kb, rankings[0]) == ["C", "B"], "the canonical name before the alias"
    assert rankings[1] == {}


def test_by_encoder_gives_each_entity_once_with_its_best_cosine(kb):
    encoder = HashEmbed(width=256, context_weight=0.0)
    ranking = by_encoder(kb, encoder, [MentionInText("herpes labialis", 0, 15)])[0]
    assert ids(kb, ranking)[0] == "A" and len(ranking) == 4
    assert list(ranking.values()) == sorted(ranking.values(), reverse=True)
    own = encoder.encode_names(["herpes labialis"])[0]
    for row, score in ranking.items():
        entity = kb.entity_at(row)
        best = max(encoder.encode_names([entity.canonical_name, *entity.aliases]) @ own)
        assert score == pytest.approx(float(best), abs=1e-5)


def test_names_first(kb):
    near = {0: 0.9, 2: 0.8, 3: 0.1}
    (joined,) = names_first([{2: 1.0, 1: 0.5}], [near])
    assert list(joined) == [2, 1, 0, 3], "a name that was not among the nearest still comes before them"
    assert list(joined.values()) == sorted(joined.values(), reverse=True)
    assert names_first([{}], [near]) == [near]
    assert names_first([{1: 1.0}], [{}])[0].keys() == {1}


class LongestName:
    """A ranker that prefers the longest name."""

    top_k, mix = 16, None

    def score(self, task, *, show_progress=False):
        lengths = np.array([len(entity.canonical_name) for entity in task.entities], dtype=np.float32)
        return lengths[task.rows]


def test_by_ranker_reranks_the_first_candidates_only(kb):
    mentions = [MentionInText("cold", 0, 4)] * 3
    nearest = [{3: 0.9, 0: 0.8, 2: 0.7, 1: 0.6}, {2: 0.5}, {}]
    first, second, third = by_ranker(kb, LongestName(), mentions, nearest, n=3)
    assert list(first) == [0, 3, 2, 1], "'common cold' is the longest name, but it is not among the first three"
    assert list(first.values()) == sorted(first.values(), reverse=True) and len(set(first.values())) == 4
    assert list(second) == [2] and third == {}

"""A study over worlds: trained on two made-up wikis, measured on two others."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import run
from pages import options_after
from spacy_pel_studies.study import plan_study
from spacy_pel_studies.study.table import run_rows, world_columns
from spacy_pel_studies.study.worlds_task import WorldsTask
from spacy_pel_studies.worlds.ranking import by_encoder
from spacy_pel_studies.worlds.unseen_world import UnseenWorld
from spacy_pel_studies.worlds.worlds import WorldTrainer

from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.errors import PelError
from spacy_pel.evaluation.outcomes import read_predictions
from spacy_pel.training.commands.train import parse_overrides

from .conftest import TINY

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).parents[3] / "configs"
CONFIG = CONFIGS / "study_worlds.cfg"
SMALL = {
    **TINY,
    "pel.training.dev.n_mentions": 0,
    "study.n_test": 0,
    "study.worlds.train": ["harbour", "kitchen"],
    "study.worlds.val": ["castle"],
    "study.worlds.test": ["railway"],
    "study.factors.negatives.mixed.negatives.n_negatives": 4,
}
LABELS = ["Pb random plain", "CE mixed plain"]


def overrides(worlds, **changes):
    return {**SMALL, "study.worlds.folder": str(worlds), **{f"study.{k}": v for k, v in changes.items()}}


def study(worlds, output, *more):
    args = ["research", "study", CONFIG, "--output", output]
    for name, value in overrides(worlds).items():
        args += [f"--{name}", value if isinstance(value, str) else json.dumps(value)]
    for label in LABELS:
        args += ["--only", label]
    return run(*args, *more)


@pytest.fixture(scope="module")
def ran(worlds, tmp_path_factory):
    output = tmp_path_factory.mktemp("study_worlds")
    result = study(worlds, output, "--json")
    assert result.code == 0, result.err
    return output, result.json


def test_every_run_is_measured_on_every_unseen_world(worlds, ran):
    output, report = ran
    assert [one["label"] for one in report["results"][-2:]] == LABELS
    assert {one["label"] for one in report["results"]} > set(LABELS), "an encoder before training, too"
    for folder, result in (("Pb-random-plain", -2), ("CE-mixed-plain", -1)):
        encoder = load_encoder(output / folder / "seed0" / "model-best")
        metrics = report["results"][result]["worlds"]
        for kind, world in (("val", "castle"), ("test", "railway")):
            unseen = UnseenWorld(world, worlds, "test")
            rankings = by_encoder(unseen.kb, encoder, unseen.mentions, kinds=["card"])
            expected = [list(unseen.kb.ids_at(list(one))) for one in rankings]
            found = list(read_predictions(output / folder / "seed0" / "worlds" / world / "predictions.jsonl"))
            assert [[i for i, _ in one.candidates] for one in found] == expected
            for k in (1, 4):
                hits = [bool(set(one.gold) & set(ids[:k])) for one, ids in zip(found, expected, strict=True)]
                assert metrics[kind]["groups"][world][f"recall@{k}"] == pytest.approx(np.mean(hits))
            assert metrics[kind]["macro"]["recall@4"] == metrics[kind]["micro"]["recall@4"]


def test_all_mentions_of_the_test_worlds_decide_claims(ran):
    output, report = ran
    evaluation = output / "CE-mixed-plain" / "seed0" / "evaluation"
    mentions = list(read_predictions(evaluation / "predictions.jsonl"))
    assert len(mentions) == 6 and all(one.doc.startswith("railway") for one in mentions)
    result = report["results"][-1]
    assert result["recall@1"] == result["worlds"]["test"]["micro"]["recall@1"] and result["threshold"] is None
    assert report["claims"] == [], "no claim compares these two"


def test_tables(worlds, ran):
    text = (ran[0] / "study.md").read_text()
    head = "| run | val @1 | val @64 | test @1 | test @64 | mean of test worlds @1 | "
    head += "mean of test worlds @64 | own hard | minutes | paper val @1 / @64 | paper test @1 / @64 |"
    assert head in text
    assert "| run | recall@4 | recall@8 | recall@16 | recall@32 | recall@64 |" in text
    assert "| run | val: castle | test: railway |" in text
    assert "| – | 48.9 / 85.2 |" in text, "Wiatrak et al., Table 3"
    again = study(worlds, ran[0])
    assert again.code == 0 and again.out.strip() == text.strip()


def test_a_finished_study_is_not_trained_again(worlds, ran):
    files = {path: path.stat().st_mtime_ns for path in ran[0].rglob("model.safetensors")}
    result = study(worlds, ran[0], "--json")
    assert result.json == ran[1] and files
    assert all(path.stat().st_mtime_ns == time for path, time in files.items())


def test_batches_are_of_one_world_each(worlds, tmp_path):
    settings, runs = plan_study(CONFIG, overrides(worlds))
    mixed = next(run for run in runs if run.label == "Pb mixed plain")
    task = WorldsTask(settings, settings.worlds, CONFIG)
    trainer = task.trainer(mixed, tmp_path)
    assert isinstance(trainer, WorldTrainer)
    assert trainer.settings.paths.kb == tmp_path / "joined" / "kb"


def test_other_rows_of_the_index_are_another_measurement(worlds, tmp_path):
    settings, runs = plan_study(CONFIG, overrides(worlds))
    task = WorldsTask(settings, settings.worlds, CONFIG)
    before = task.measured(runs[0], tmp_path)
    assert task.measured(runs[0], tmp_path) == before
    settings.kinds = ["card", "alias"]
    assert task.measured(runs[0], tmp_path) != before


def test_other_worlds_of_training_are_another_training(worlds, ran):
    """Its metrics must not pass for those of the worlds trained on before."""
    result = study(worlds, ran[0], "--study.worlds.train", '["harbour"]')
    assert result.code == 2 and "PEL-E3" in result.err


def test_mentions_and_worlds_of_equal_weight(worlds, ran, tmp_path):
    """Two worlds of different size: six mentions and two."""
    shutil.copytree(worlds, tmp_path / "worlds")
    corpus = tmp_path / "worlds" / "castle" / "test.jsonl"
    corpus.write_text("".join(corpus.read_text().splitlines(keepends=True)[:2]))
    unseen = {"worlds.val": [], "worlds.test": ["railway", "castle"], "top_k": 2}
    settings, runs = plan_study(CONFIG, overrides(tmp_path / "worlds", **unseen))
    task = WorldsTask(settings, settings.worlds, CONFIG)
    encoder = load_encoder(ran[0] / "CE-mixed-plain" / "seed0" / "model-best")
    facts = task.measure(encoder, None, tmp_path / "out", {"label": "CE mixed plain"})
    mentions = list(read_predictions(tmp_path / "out" / "evaluation" / "predictions.jsonl"))
    assert [one.doc[:4] for one in mentions] == ["rail"] * 6 + ["cast"] * 2
    hits = np.array([one.rank in (1, 2) for one in mentions])
    metrics = facts["worlds"]["test"]
    assert metrics["micro"]["recall@2"] == pytest.approx(hits.mean())
    assert metrics["macro"]["recall@2"] == pytest.approx((hits[:6].mean() + hits[6:].mean()) / 2)
    assert "recall@4" not in metrics["micro"], "two candidates were asked for"
    part = {k: {"recall@1": v, "recall@64": v} for k, v in (("micro", 0.25), ("macro", 0.75))}
    (row,) = run_rows([{"label": "x", "worlds": {"test": part}}], world_columns([], ["test"]))
    assert row[1:5] == ["25.0", "25.0", "75.0", "75.0"]
    (row,) = run_rows([facts], world_columns([], ["test"]))
    assert row[2] == row[4] == "–"


def test_documents_of_each_world(worlds):
    assert len(UnseenWorld("castle", worlds, "test", n=2).mentions) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"test": "x.jsonl", "kb": "y"}, "study.test, study.kb and .study.worlds. exclude each other"),
        ({"worlds.train": ["castle"]}, "names castle more than once"),
        ({"worlds.test": ["railway", "castle", "railway"]}, "names castle, railway more than once"),
        ({"worlds": None}, "got neither"),
        ({"worlds.test": []}, "worlds.test"),
        ({"worlds.height": 1}, "worlds.height"),
    ],
)
def test_wrong_worlds_say_so(worlds, changes, said):
    with pytest.raises(PelError, match=f"(?s)E677.*{said}"):
        plan_study(CONFIG, {**overrides(worlds), **{f"study.{k}": v for k, v in changes.items()}})


def test_a_missing_world_is_one_line(worlds, tmp_path):
    result = study(worlds, tmp_path, "--study.worlds.val", '["nowhere"]')
    assert result.code == 2 and "nowhere" in result.err and not list(tmp_path.rglob("model-best"))


def test_the_study_of_adaptive_mixup_on_zeshels_worlds():
    """Cai et al. (2023), Table 3: validation beside test, with the options of the config's head."""
    options = options_after(CONFIG, "at the paper's size:")
    worlds = options[options.index("--study.worlds.folder") :]
    settings, runs = plan_study(CONFIGS / "study_amh.cfg", parse_overrides([*worlds, "--study.test", "null"]))
    assert [len(one) for one in (settings.worlds.train, settings.worlds.val, settings.worlds.test)] == [8, 4, 4]
    part = {"recall@1": 0.5, "recall@64": 0.75, "recall@1_low": 0.4, "recall@1_high": 0.6}
    part.update({"recall@64_low": 0.7, "recall@64_high": 0.8})
    result = {"label": "SOM AMH", "worlds": {k: {"micro": part, "macro": part} for k in ("val", "test")}}
    (row,) = run_rows([result], world_columns(settings.paper.values(), ["val", "test"]))
    assert row[1:5] == ["50.0 [40.0, 60.0]", "75.0 [70.0, 80.0]"] * 2
    assert row[-2:] == ["25.6 / 91.8", "31.2 / 85.0"]
    assert len(runs) > 12

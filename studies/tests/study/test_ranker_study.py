"""A study of rankers on tiny data: planned, run, resumed, compared; its table."""

from pathlib import Path

import numpy as np
import pytest
from pages import options_after
from spacy_pel_studies.study import plan_study, run_study
from spacy_pel_studies.study.claims import compare_all
from spacy_pel_studies.study.ranker_task import RankerTask
from spacy_pel_studies.study.table import PAIR_HEAD, TRIPLET_PAPER, pair_rows, ranker_columns, run_rows
from training.ranker.conftest import retriever
from typer.testing import CliRunner

from spacy_pel.cli import pel_cli
from spacy_pel.corpora import write_corpus
from spacy_pel.errors import PelError
from spacy_pel.evaluation.outcomes import Outcomes, read_predictions, read_run
from spacy_pel.evaluation.predict import gold_queries
from spacy_pel.training.commands.train import parse_overrides
from spacy_pel.training.report.compare import compare_runs
from spacy_pel.types import Document, Mention

from ..triplets.test_training import make_documents

pytestmark = pytest.mark.slow

__all__ = ["retriever"]
CONFIGS = Path(__file__).parents[3] / "configs"
STUDY = """
[study]
test = "{path}/test.jsonl"
seeds = [0]

[study.factors]

[study.factors.objective]

[study.factors.objective.triplet]

[study.factors.objective.triplet.anchors]
@pel_anchors = "spacy-pel.AllMentions.v1"

[study.factors.objective.prototype_srn]
"""


@pytest.fixture
def config(tmp_path):
    write_corpus(tmp_path / "train.jsonl", make_documents(12))
    write_corpus(tmp_path / "dev.jsonl", make_documents(4, first=100))
    unknown = Document("nil", "a plague", [Mention(2, 8, "", ("Z",))])
    write_corpus(tmp_path / "test.jsonl", [*make_documents(6, first=200), unknown])
    text = (CONFIGS / "triplet_tiny.cfg").read_text()
    for name in ("train", "dev"):
        file = "test" if name == "dev" else name
        text = text.replace(f"assets/tiny/medmentions/st21pv_{file}.jsonl", str(tmp_path / f"{name}.jsonl"))
    text = text.replace("max_steps = 20\neval_frequency = 10", "max_steps = 2\neval_frequency = 2")
    (tmp_path / "study.cfg").write_text(text + STUDY.format(path=tmp_path))
    return tmp_path / "study.cfg"


def run(config, output, linker, limit=None):
    study, runs = plan_study(config)
    task = RankerTask(study, config, linker=linker, queries=gold_queries)
    return run_study(task, runs[:limit], output)


def test_a_study_of_rankers(config, retriever, tmp_path):
    output = tmp_path / "out"
    first = run(config, output, retriever, limit=1)
    times = {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
    results = run(config, output, retriever)
    assert results[:2] == first and [one["label"] for one in results] == [*("candidates", "triplet", "prototype_srn")]
    assert all(path.stat().st_mtime_ns == time for path, time in times.items()), "a finished run was repeated"
    assert {path.name for path in (output / "cache").iterdir()} == {"train.npz", "dev.npz", "test.npz"}
    candidates, triplet, srn = results
    assert candidates["recall@8"] == triplet["recall@8"] == srn["recall@8"] == 1.0
    assert candidates["recall@1"] < 0.7 and candidates["n_nil"] == 1
    assert triplet["train_seconds"] > 0 and triplet["mentions_per_second"] > 0
    assert triplet["config"]["ranker"]["anchors"]["@pel_anchors"] == "spacy-pel.AllMentions.v1"
    assert srn["radius"] > 0 and "radius" not in triplet
    folders = [output / name / "evaluation" for name in ("candidates", "triplet/seed0")]
    predictions = list(read_predictions(folders[1] / "predictions.jsonl"))
    outcomes = Outcomes.of(predictions)
    assert triplet["recall@1"] == pytest.approx((outcomes.rank == 1)[~outcomes.is_nil].mean())
    assert all(one.kb_id == one.candidates[0][0] for one in predictions if one.candidates)
    assert [one.gold for one in predictions][-1] == []
    compared = compare_runs(*map(read_run, folders), n_samples=20)
    assert compared["n"] == len(predictions) and compared["differences"]["recall@1"]["b"] == triplet["recall@1"]


def test_settings_of_retrieval_are_refused(config):
    config.write_text(config.read_text().replace("seeds = [0]", "seeds = [0]\ntop_k = 3\nn_dev = 2"))
    with pytest.raises(PelError, match="E677.*study.top_k, study.n_dev"):
        plan_study(config)


def planned(*heads):
    """Of the shipped study, with the options that its comments list for these cases."""
    path = CONFIGS / "study_triplet.cfg"
    options = [option for head in heads for option in options_after(path, head)]
    return plan_study(path, parse_overrides(options))[1]


def test_the_shipped_study_has_the_papers_settings():
    """Le & Nguyen (2023), sections 3.2 and 4.4, with what the config's comments say for a GPU."""
    runs = planned("at the paper's size:")
    assert [one.label for one in runs] == list(TRIPLET_PAPER) and all(one.of_ranker for one in runs)
    rankers = [one.config["ranker"] for one in runs]
    parts = [one["anchors"]["@pel_anchors"].split(".")[1] for one in rankers]
    assert parts == ["AllMentions", "OneMention", "MeanPrototype", "SoftRadius"]
    squared = [one["loss"]["squared"] for one in rankers]
    assert squared == [True, True, False, False], "Eq. 2 of mentions, Eq. 3 of prototypes"
    for one in rankers:
        encoder, training = one["model"]["encoder"], one["training"]
        assert encoder["name"] == "cambridgeltl/SapBERT-from-PubMedBERT-fulltext" and not encoder["tied"]
        assert (encoder["pooling"], encoder["entity_pooling"]) == ("markers", "cls")
        assert encoder["similarity"]["@pel_similarities"] == "spacy-pel.Euclidean.v1"
        assert encoder["mention_template"]["@pel_templates"] == "spacy-pel.MarkedContext.v1"
        assert encoder["entity_template"]["@pel_templates"] == "spacy-pel.SynonymCard.v1"
        assert {encoder[f"{side}_template"]["max_length"] for side in ("mention", "entity")} == {128}
        assert (one["candidates"]["n"], one["model"]["top_k"], one["loss"]["margin"]) == (64, 64, 1.2)
        assert (training["batch_size"], training["max_epochs"], training["limit"]) == (32, 3, 0)
        assert (training["optimizer"]["learn_rate"], training["optimizer"]["weight_decay"]) == (1e-5, 0.0)
    radius = rankers[3]["anchors"]
    assert (radius["radius"], radius["epsilon"], radius["learn_rate"]) == (11.0, 1.0, 0.005)
    assert radius["schedule"] is False, "a constant rate"


def test_the_shipped_study_at_the_size_of_a_cpu():
    """Distances of MiniLM are smaller than those of SapBERT: lambda starts at their mean."""
    radius = planned("On BC5CDR, with a pipeline over MeSH (margin as in the paper):")[3].config["ranker"]
    assert (radius["anchors"]["radius"], radius["loss"]["margin"]) == (None, 1.6)
    assert radius["candidates"]["n"] == 16 and radius["training"]["max_epochs"] == 1


# -- tables --------------------------------------------------------------------------------------


def outcomes_with(right):
    n = len(right)
    zeros = np.zeros(n, dtype=bool)
    rank = np.where(right, 1, 3)
    is_nil, score = np.arange(n) % 10 == 0, np.zeros(n)
    return Outcomes(np.arange(n) // 4, rank, is_nil, zeros, score, zeros, rank == 1, score, zeros, 0 * rank)


def test_every_two_settings_are_compared():
    rng = np.random.default_rng(0)
    good, bad = rng.random(400) < 0.9, rng.random(400) < 0.4
    cells = {"triplet": [outcomes_with(bad)], "prototype": [outcomes_with(bad)], "prototype_srn": [outcomes_with(good)]}
    found = compare_all(cells)
    assert [(one.a, one.b) for one in found] == [
        *(("triplet", "prototype"), ("triplet", "prototype_srn"), ("prototype", "prototype_srn"))
    ]
    counted = np.arange(400) % 10 > 0
    assert found[1].difference.difference == pytest.approx(good[counted].mean() - bad[counted].mean())
    assert [one.verdict for one in found] == ["open", *["prototype_srn is better"] * 2]
    assert found[0].test["p_value"] == 1.0 and found[1].test["significant"]
    assert found[1].test["n_only_b"] == (good & ~bad & counted).sum()
    rows = pair_rows(found)
    assert all(len(row) == len(PAIR_HEAD) for row in rows)
    assert rows[1][-2:] == ["+1.2 / +1.4", "+1.2 / +1.1"] and rows[1][4] == "<0.0001"


def test_the_papers_results_are_next_to_ours():
    result = {"label": "prototype", "recall@1": 0.5, "recall@1_low": 0.4, "recall@1_high": 0.6}
    result.update({"recall@2": 0.7, "recall@16": 0.9, "accuracy_seen": 0.75, "accuracy_unseen": None})
    result.update({"train_seconds": 90.0, "mentions_per_second": 123.4, "dev_accuracy": 0.55})
    result.update({"recall_all@64": 0.1})
    columns = ranker_columns()
    (row,) = run_rows([result], columns)
    assert dict(zip([head for head, _ in columns], row, strict=True)) == {
        "run": "prototype",
        "accuracy@1": "50.0 [40.0, 60.0]",
        "seen": "75.0",
        "unseen": "–",
        "candidates' recall": "90.0 (recall@16)",
        "dev accuracy": "55.0",
        "minutes": "1.5",
        "mentions/s": "123",
        "radius": "–",
        "paper MedMentions": "71.5 / 71.4",
        "paper BC5CDR": "86.2 / 88.2",
    }
    only = {"label": "candidates", "recall@1": 0.5, "recall@16": 0.9}
    (row,) = run_rows([only], columns)
    assert row[1:3] == ["50.0", "–"] and row[5:] == ["–"] * 6
    assert run_rows([result, {**result, "recall@1": 0.7}], columns)[0][1] == "60.0"


def test_an_unknown_path_is_named_in_one_line(config, tmp_path):
    config.write_text(config.read_text().replace("[paths]\n", '[paths]\nelsewhere = "x"\n'))
    result = CliRunner().invoke(pel_cli, ["research", "study", str(config), "--output", str(tmp_path / "out")])
    assert result.exit_code == 2 and "PEL-E390" in result.stderr and "elsewhere" in result.stderr

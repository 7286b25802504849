"""A study on tiny data: planned, run, killed and gone on with, and read by its command."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from spacy_pel_studies.study import plan_study, run_study, select_runs
from spacy_pel_studies.study.claims import check_claims
from spacy_pel_studies.study.encoder_task import EncoderTask
from spacy_pel_studies.study.plan import merged
from spacy_pel_studies.study.table import encoder_columns, run_rows
from thinc.api import Config
from training.conftest import CONFIG, SMALL
from typer.testing import CliRunner

from spacy_pel.cli import pel_cli
from spacy_pel.errors import PelError
from spacy_pel.evaluation.outcomes import Outcomes, read_predictions
from spacy_pel.training.retriever.settings import resolve_settings

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).parents[3] / "configs"

STUDY = """
[study]
test = "{test}"
seeds = [0,1]

[study.factors]

[study.factors.loss]

[study.factors.loss.Pb]

[study.factors.loss.CE]

[study.factors.loss.CE.loss]
@pel_losses = "spacy-pel.CrossEntropy.v1"

[study.extra]

[study.extra.margin]
label = "Pb 0.1"
like = {{"loss":"Pb"}}

[study.extra.margin.pel]

[study.extra.margin.pel.loss]
@pel_losses = "spacy-pel.ProxySoftplus.v1"
margin = 0.1
"""
CELLS = (
    STUDY.format(test="x")
    + """
[study.cells]

[study.cells.a]
at = {"loss":"Pb"}

[study.cells.a.pel]

[study.cells.a.pel.loss]
@pel_losses = "spacy-pel.ProxySoftplus.v1"
alpha = 7.0
"""
)


@pytest.fixture
def config(tmp_path, data):
    path = tmp_path / "study.cfg"
    path.write_text(CONFIG.read_text() + STUDY.format(test=data["paths.dev"]))
    return path


def overrides(data):
    return {**SMALL, **data, "pel.training.max_steps": 2, "pel.training.eval_frequency": 2}


def test_plan_has_every_combination_and_seed(config, data):
    study, runs = plan_study(config, overrides(data))
    assert [run.name for run in runs] == [
        *("Pb/seed0", "Pb/seed1", "CE/seed0", "CE/seed1"),
        *("margin/seed0", "margin/seed1"),
    ]
    by_name = {run.name: run for run in runs}
    assert by_name["Pb/seed1"].config["pel"]["loss"]["@pel_losses"] == "spacy-pel.ProxySoftplus.v1"
    assert by_name["CE/seed0"].config["pel"]["loss"] == {"@pel_losses": "spacy-pel.CrossEntropy.v1"}
    assert by_name["margin/seed0"].config["pel"]["loss"]["margin"] == 0.1
    assert by_name["margin/seed0"].label == "Pb 0.1" and not by_name["margin/seed0"].levels
    assert [run.config["system"]["seed"] for run in runs] == [0, 1] * 3
    assert len({run.fingerprint for run in runs}) == 6 and study.seeds == [0, 1]


def test_merged_replaces_parts_whole_and_other_sections_key_by_key():
    tree = {"loss": {"@pel_losses": "a", "alpha": 1}, "training": {"x": 1, "y": {"z": 2}}}
    change = {"loss": {"@pel_losses": "b"}, "training": {"y": {"w": 3}}}
    assert merged(tree, change) == {"loss": {"@pel_losses": "b"}, "training": {"x": 1, "y": {"z": 2, "w": 3}}}
    assert tree["training"] == {"x": 1, "y": {"z": 2}}


@pytest.mark.parametrize(
    "wrong, came",
    [
        ("[study]\n", "test"),
        ('[study]\ntest = "x"\nfactors = {}\nheight = 1\n', "height"),
        (STUDY.format(test="x").replace('"loss":"Pb"', '"loss":"XX"'), "extra.margin.like"),
        (STUDY.format(test="x").replace('"loss":"Pb"', '"loss":"Pb","x":"y"'), "no level of 'x'"),
        (CELLS.replace('at = {"loss":"Pb"}', 'at = {"loss":"XX"}'), "cells.a.at names no level of 'loss'"),
        (CELLS + '\n[study.claims]\na = {"text":"x","better":{},"than":{"Pb":1}}\n', "claims.a.better"),
        (CELLS + '\n[study.claims]\na = {"text":"x","better":{"Pb":1},"than":{"Bp":1}}\n', "claims.a names 'Bp'"),
        (CELLS + '\n[study.paper]\na = {"label":"Bp","metrics":{}}\n', "paper.a.label names 'Bp'"),
        ("", "no .study. section"),
    ],
)
def test_a_wrong_study_says_what(wrong, came, tmp_path):
    path = tmp_path / "study.cfg"
    path.write_text(CONFIG.read_text() + wrong)
    with pytest.raises(PelError, match=f"(?s)E677.*{came}"):
        plan_study(path)


def test_runs_are_selected_by_label(config, data):
    _, runs = plan_study(config, overrides(data))
    chosen = select_runs(runs, ["Pb*"], config)
    assert [run.name for run in chosen] == ["Pb/seed0", "Pb/seed1", "margin/seed0", "margin/seed1"]
    assert select_runs(runs, ["*"], config) == runs
    with pytest.raises(PelError, match=r"E697.*'CE mixed'.*Pb, CE, Pb 0\.1"):
        select_runs(runs, ["Pb", "CE mixed"], config)


def test_run_resume_and_command(config, data, tmp_path):
    study, runs = plan_study(config, overrides(data))
    output = tmp_path / "out"
    first = run_study(EncoderTask(study, config), runs[:2], output)
    files = {path: path.stat().st_mtime_ns for path in output.rglob("model.safetensors")}
    args = ["research", "study", str(config), "--output", str(output), "--json"]
    for name, value in overrides(data).items():
        args += [f"--{name}", json.dumps(value)]
    result = CliRunner().invoke(pel_cli, args, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    trained = ["Pb", "Pb", "CE", "CE", "Pb 0.1", "Pb 0.1"]
    assert [result["label"] for result in report["results"]] == ["untrained", *trained]
    assert report["results"][:3] == first, "a finished run was repeated"
    assert all(path.stat().st_mtime_ns == time for path, time in files.items())
    assert "| Pb 0.1 |" in (output / "study.md").read_text()
    part = CliRunner().invoke(pel_cli, [*args, "--only", "Pb 0*", "--only", "CE"], catch_exceptions=False)
    labels = [result["label"] for result in json.loads(part.stdout)["results"]]
    assert labels == ["untrained", "CE", "CE", "Pb 0.1", "Pb 0.1"]
    assert all(path.stat().st_mtime_ns == time for path, time in files.items())
    predictions = list(read_predictions(output / "Pb/seed0/evaluation/predictions.jsonl"))
    outcomes = Outcomes.of(predictions)
    recall = (outcomes.rank == 1)[~outcomes.is_nil].mean()
    assert first[1]["recall@1"] == pytest.approx(recall) and first[1]["n"] == len(predictions)
    assert all(len({id_ for id_, _ in one.candidates}) == len(one.candidates) > 1 for one in predictions)
    assert all(one.nil_score == pytest.approx(-one.candidates[0][1], abs=1e-5) for one in predictions)
    runs[0].config["pel"]["training"]["max_steps"] = 3
    with pytest.raises(PelError, match="E678"):
        run_study(EncoderTask(study, config), runs[:1], output)


def test_encoders_are_measured_before_training(config, data, tmp_path):
    _, runs = plan_study(config, overrides(data))
    study = plan_study(config, overrides(data))[0]
    runs[2].config["pel"]["encoder"]["pooling"] = "cls"
    before = EncoderTask(study, config).untrained(runs[:3], tmp_path, {run.name: "x" for run in runs})
    assert [one["label"] for one in before] == ["untrained, as Pb", "untrained, as CE"]
    for run, one in zip((runs[0], runs[2]), before, strict=True):
        encoder = resolve_settings(Config(run.config), config).pel.encoder
        torch.manual_seed(run.seed)
        encoder.initialize()
        assert one["model_fingerprint"] == encoder.fingerprint
        assert one["n"] > 0 and "train_seconds" not in one
    assert run_rows(before, encoder_columns([]))[0][0] == "untrained, as Pb"


def test_other_mentions_are_measured_without_training_again(config, data, tmp_path):
    study, runs = plan_study(config, overrides(data))
    _, first = run_study(EncoderTask(study, config), runs[:1], tmp_path / "out")
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.safetensors")}
    study.n_test = 2
    before, second = run_study(EncoderTask(study, config), runs[:1], tmp_path / "out")
    assert second["n"] < first["n"] and second["train_seconds"] == first["train_seconds"]
    best = [path for path in files if "model-best" in path.parts]
    assert best and all(path.stat().st_mtime_ns == files[path] for path in best)
    assert run_study(EncoderTask(study, config), runs[:1], tmp_path / "out") == [before, second]


def test_a_study_without_a_training_says_so(tmp_path):
    path = tmp_path / "study.cfg"
    path.write_text(STUDY.format(test="x"))
    with pytest.raises(PelError, match="E677.*neither a .pel. section"):
        plan_study(path)


def outcomes_with(right, nil_score):
    n = len(right)
    is_nil = np.arange(n) % 4 == 0
    rank = np.where(np.asarray(right), 1, 5)
    return Outcomes(
        document=np.arange(n) // 4,
        rank=np.where(is_nil, 0, rank),
        is_nil=is_nil,
        called_nil=np.zeros(n, bool),
        nil_score=np.where(is_nil, nil_score, 0.0) + np.linspace(0, 0.1, n),
        seen=np.zeros(n, bool),
        correct=rank == 1,
        probability=np.full(n, 0.5),
        covered=np.zeros(n, bool),
        set_size=np.zeros(n, int),
    )


def test_claims():
    n = 400
    rng = np.random.default_rng(0)
    good, bad = rng.random(n) < 0.9, rng.random(n) < 0.3
    cells = {
        "CE random plain": [outcomes_with(bad, 0.0)],
        "Pb random plain": [outcomes_with(good, 1.0)],
        "CE mixed plain": [outcomes_with(good, 0.0)],
        "Pb mixed plain": [outcomes_with(good, 0.0)],
        "Pb random FGSM": [outcomes_with(bad, 1.0)],
        "Pb 0.05": [outcomes_with(good, 1.0)],
    }
    settings, _ = plan_study(CONFIGS / "study.cfg")
    claims = {claim.text: claim for claim in check_claims(cells, settings.claims.values())}
    verdicts = {text: claim.verdict for text, claim in claims.items()}
    assert verdicts == {
        "Pb beats CE at recall@1 with random negatives": "holds",
        "Pb beats CE at recall@1 with mixed negatives": "open",
        "Pb beats CE at recall@64 with random negatives": "open",
        "Hard negatives help CE more than Pb": "holds",
        "FGSM helps Pb with random negatives at recall@1": "does not hold",
        "Pb's NIL auPR is above CE's with random negatives": "holds",
        "Pb's NIL auPR is above CE's with mixed negatives": "open",
        "NIL auPR grows from Pb mixed plain to Pb 0.05": "holds",
    }
    in_kb = np.arange(n) % 4 > 0
    first = claims["Pb beats CE at recall@1 with random negatives"].difference
    assert (first.a, first.b) == pytest.approx((bad[in_kb].mean(), good[in_kb].mean()))
    assert claims["Pb's NIL auPR is above CE's with random negatives"].difference.b == pytest.approx(1.0)


def test_table_shows_the_papers_results_next_to_ours():
    result = {"label": "Pb random plain", "recall@1": 0.5, "recall@1_low": 0.4, "recall@1_high": 0.6}
    result.update({"recall@64": 0.9, "nil_aupr": None, "nil_precision": 0.25, "nil_recall": 1.0})
    result.update({"recall_all@1": 0.5, "recall_all@64": 0.75, "train_seconds": 90.0})
    columns = encoder_columns(plan_study(CONFIGS / "study.cfg")[0].paper.values())
    (row,) = run_rows([result], columns)
    assert row == [
        *("Pb random plain", "50.0 [40.0, 60.0]", "90.0", "–", "25.0 / 100.0", "50.0", "75.0", "–", "1.5"),
        *("63.3 / 95.9", "–"),
    ]
    assert [
        run_rows([{**result, "label": label}], columns)[0][-1]
        for label in ("Pb mixed plain", "Pb 0.05", "CE mixed plain")
    ] == [*("83.7", "85.8", "32.3")]
    (row,) = run_rows([result, {**result, "recall@1": 0.7}], encoder_columns([]))
    assert row[1] == "60.0" and row[-2:] == ["–", "–"]


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("study", {"random": "0", "mixed": "8", "0.05": "8", "balanced": "0"}),
        ("study_nil", {"random": "0", "mixed": "8", "0.1": "8"}),
        ("study_fgsm", {"plain": "0"}),
        ("study_amh", {"random": "0", "hard": "8", "mixed-50": "4", "AMH": "0"}),
        ("study_offset", {"solved": "0"}),
    ],
)
def test_table_counts_the_hard_negatives_of_a_mentions_own(name, own):
    study, runs = plan_study(CONFIGS / f"{name}.cfg")
    columns = encoder_columns(study.paper.values())
    place = [head for head, _ in columns].index("own hard")
    for run in runs:
        (row,) = run_rows([{"label": run.label, "config": run.config}], columns)
        for word, count in own.items():
            assert word not in row[0] or row[place] == count, row[0]
    shared = merged(run.config, {"pel": {"negatives": {"@pel_negatives": "spacy-pel.MixedNegatives.v1"}}})
    shared["pel"]["negatives"].update(n_negatives=64, shared=True)
    shared["pel"]["training"]["batch_size"] = 30
    (row,) = run_rows([{"label": "x", "config": shared}], columns)
    assert row[place] == "1.07"


PB_CELLS = [f"Pb {negatives} {kind}" for negatives in ("random", "mixed") for kind in ("plain", "FGSM")]


@pytest.mark.parametrize(
    ("name", "solved"),
    [
        ("study", [*PB_CELLS, "Pb 0.05", "Pb 0.1"]),
        ("study_fgsm", ["Pb offset plain", "Pb offset FGSM 1e-3", "Pb offset FGSM 1e-2"]),
        ("study_nil", ["Pb random", "Pb mixed", "Pb 0.01", "Pb 0.05", "Pb 0.1"]),
        ("study_offset", ["Pb solved"]),
    ],
)
def test_offsets_of_the_runs(name, solved):
    """An offset of null reaches the run; the others have the paper's 0."""
    _, runs = plan_study(CONFIGS / f"{name}.cfg")
    for run in runs:
        loss = resolve_settings(Config(run.config), CONFIGS).pel.loss
        assert hasattr(loss, "started") == (run.label in solved), run.label
        assert run.label in solved or getattr(loss, "offset", 0.0) == 0.0, run.label
    assert set(solved) <= {run.label for run in runs}


# -- the study of adaptive mixup --------------------------------------------------------------------


def test_the_study_of_adaptive_mixup_is_what_it_says():
    study, runs = plan_study(CONFIGS / "study_amh.cfg")
    by_label = {run.label: run for run in runs}
    scorers, kinds = ("DUAL", "Pooling Mean", "SOM"), ("random", "hard", "mixed-50", "AMH")
    assert [run.label for run in runs][:12] == [f"{scorer} {kind}" for scorer in scorers for kind in kinds]
    assert len({run.name for run in runs}) == len(runs) and not any(" " in run.name for run in runs)
    scales = {"DUAL": 0.25, "Pooling Mean": 0.4, "SOM": 0.01}
    for label, run in by_label.items():
        pel = run.config["pel"]
        mixed = "AMH" in label or " α " in label or " K " in label
        assert ("mixing" in pel) == mixed, label
        assert pel["encoder"]["pooling"] == ("cls" if "DUAL" in label else "mean")
        binary = mixed or label.endswith(", BCE")
        name = "BinaryCrossEntropy" if binary else "CrossEntropy"
        assert pel["loss"]["@pel_losses"] == f"spacy-pel.{name}.v1", label
        if binary and not label.endswith("scale 1"):
            scale = next(scale for scorer, scale in scales.items() if label.startswith(scorer))
            assert (pel["loss"]["scale"], pel["loss"]["offset"]) == (scale, None), label
        else:
            assert (pel["loss"]["scale"], pel["loss"].get("offset", 0.0)) == (1.0, 0.0), label
        similarity = pel["encoder"]["similarity"]["@pel_similarities"]
        assert similarity == f"spacy-pel.{'SumOfMax' if 'SOM' in label else 'DotProduct'}.v1"
        hard = any(word in label for word in ("hard", "mixed-50"))
        negatives = pel["negatives"]
        assert (negatives["@pel_negatives"] != "spacy-pel.InBatchNegatives.v1") == hard
        assert not hard or (negatives["in_batch"], negatives["shared"]) == (True, False), label
    # K is the paper's for each scorer
    for label, k in (("DUAL AMH", 1), ("Pooling Mean AMH", 1), ("SOM AMH", 10), ("Pooling Mean K 4", 4)):
        mixing = by_label[label].config["pel"]["mixing"]
        assert (mixing["alpha"], mixing["k"]) == (0.3, k)
    swept = [run.config["pel"]["mixing"]["alpha"] for label, run in by_label.items() if " α " in label]
    assert swept == [0.0, 0.1, 0.5, 1.0]
    # what is claimed and quoted is what is run
    paper = {run.label: run.metrics for run in study.paper.values()}
    assert set(paper) <= set(by_label)
    assert all({*claim.better, *claim.than} <= set(by_label) for claim in study.claims.values())
    assert len(study.claims) == 3 * 3 * 2 + 3 * 2 + 1
    of_val = {"val_recall@1": 25.56, "val_recall@64": 91.83}
    assert paper["SOM AMH"] == {"recall@1": 31.19, "recall@64": 85.05, **of_val}


def test_a_change_of_one_cell(tmp_path):
    path = tmp_path / "study.cfg"
    path.write_text(CONFIG.read_text() + CELLS)
    _, runs = plan_study(path)
    alphas = {run.label: run.config["pel"]["loss"].get("alpha") for run in runs}
    assert alphas == {"Pb": 7.0, "CE": None, "Pb 0.1": None}, "an extra run changes the cell it starts from"


def test_scorers_and_negatives_run_from_training_to_table(data, tmp_path):
    """A tiny SOM with adaptive mixup, trained, retrieved in two stages, and in the table."""
    text = (CONFIGS / "study_amh.cfg").read_text()
    config = tmp_path / "study.cfg"
    config.write_text(text)
    small = {name: value for name, value in {**SMALL, **data}.items() if name != "pel.negatives.n_negatives"}
    changes = {
        "pel.encoder.name": "random:layers=1,width=32",
        "pel.training.max_steps": 2,
        "pel.training.eval_frequency": 2,
        "pel.training.dev.metric": "mrr",
        "study.test": data["paths.dev"],
        "study.kb": data["paths.kb"],
        "study.top_k": 5,
        "study.first_stage": 16,
        "study.n_test": 0,
    }
    study, runs = plan_study(config, {**small, **changes})
    chosen = [run for run in runs if run.label in ("SOM hard", "SOM AMH")]
    results = run_study(EncoderTask(study, config), chosen, tmp_path / "out")
    rows = run_rows(results, encoder_columns(study.paper.values()))
    assert [row[0] for row in rows] == ["untrained", "SOM hard", "SOM AMH"]
    assert rows[2][-2] == "31.2 / 85.0"
    predictions = list(read_predictions(tmp_path / "out/SOM-AMH/seed0/evaluation/predictions.jsonl"))
    assert all(len(one.candidates) == 5 for one in predictions)
    scores = [[score for _, score in one.candidates] for one in predictions]
    assert all(own == sorted(own, reverse=True) for own in scores)


def test_a_setting_that_the_last_run_cannot_have_is_found_before_the_first(config, data, tmp_path):
    config.write_text(config.read_text().replace("margin = 0.1", 'margin = "wide"'))
    study, runs = plan_study(config, overrides(data))
    with pytest.raises(PelError, match="E696.*'Pb 0.1'.*margin"):
        run_study(EncoderTask(study, config), runs, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.json*"))


def test_an_override_that_reaches_no_run_is_refused(config, data):
    plan_study(config, {**overrides(data), "pel.training.batch_size": 4})
    text = config.read_text().replace(
        "[study.factors.loss.Pb]\n",
        """[study.factors.loss.Pb]

[study.factors.loss.Pb.loss]
@pel_losses = "spacy-pel.ProxySoftplus.v1"
alpha = 32.0
""",
    )
    config.write_text(text)
    with pytest.raises(PelError, match="E677.*pel.loss.alpha reaches no run"):
        plan_study(config, {**overrides(data), "pel.loss.alpha": 16.0})


@pytest.mark.parametrize("name", ["factors.loss.pb.loss.margin", "factors.los.Pb.loss.margin", "extra.m.pel.x"])
def test_an_override_of_a_level_that_is_not_there_is_refused(name, config, data):
    plan_study(config, {**overrides(data), "study.factors.loss.Pb.loss.margin": 0.2})
    section = ".".join(name.split(".")[: 3 if name.startswith("f") else 2])
    with pytest.raises(PelError, match=rf"E677.*{name} changes .study.{section}.,"):
        plan_study(config, {**overrides(data), f"study.{name}": 0.2})

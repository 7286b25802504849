"""A study on several corpora, with the paper's table: trained on tiny data, and read by its command."""

import json
from pathlib import Path

import pytest
from spacy_pel_studies.study import plan_corpora
from training.conftest import ENTITIES, SMALL, make_documents
from typer.testing import CliRunner

from spacy_pel.cli import pel_cli
from spacy_pel.corpora import write_corpus
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase

pytestmark = pytest.mark.slow

CONFIG = Path(__file__).parents[3] / "configs" / "study_paper.cfg"
SECOND = "study.corpora.BC5CDR"


@pytest.fixture
def overrides(data, tmp_path):
    """Of the paper's study: tiny data, another corpus and a smaller knowledge base for BC5CDR."""
    KnowledgeBase.build(ENTITIES[:15], tmp_path / "kb")
    for number, name in enumerate(("train", "dev", "test")):
        write_corpus(tmp_path / f"{name}.jsonl", make_documents(8, first=100 * number))
    small = {name: value for name, value in SMALL.items() if name != "pel.negatives.n_negatives"}
    return {
        **small,
        **data,
        "study.test": data["paths.dev"],
        "pel.encoder.name": "random:layers=1,width=8",
        "pel.training.max_steps": 2,
        "pel.training.eval_frequency": 2,
        "pel.training.dev.metric": "mrr",
        "study.top_k": 5,
        f"{SECOND}.paths.kb": str(tmp_path / "kb"),
        f"{SECOND}.paths.train": str(tmp_path / "train.jsonl"),
        f"{SECOND}.paths.dev": str(tmp_path / "dev.jsonl"),
        f"{SECOND}.study.test": str(tmp_path / "test.jsonl"),
    }


def study(output, overrides, *options):
    args = ["research", "study", str(CONFIG), "--output", str(output), *options]
    for name, value in overrides.items():
        args += [f"--{name}", value if isinstance(value, str) else json.dumps(value)]
    return CliRunner().invoke(pel_cli, args)


def test_each_corpus_has_its_own_texts_and_results_of_the_paper(overrides):
    plans = plan_corpora(CONFIG, overrides)
    assert list(plans) == ["MedMentions", "BC5CDR"]
    for corpus, (settings, runs) in plans.items():
        assert [run.label for run in runs] == ["Pb random", "Pb mixed", "CE random", "CE mixed"]
        prefix = "" if corpus == "MedMentions" else f"{SECOND}."
        assert str(settings.test) == overrides[f"{prefix}study.test"]
        for name in ("kb", "train", "dev"):
            assert {run.config["paths"][name] for run in runs} == {overrides[f"{prefix}paths.{name}"]}
    # Wiatrak et al. (2022), Table 2
    paper = {run.label: tuple(run.metrics.values()) for run in plans["MedMentions"][0].paper.values()}
    assert paper == {
        "Pb random": (63.3, 95.9),
        "Pb mixed": (71.6, 93.3),
        "CE random": (55.7, 94.0),
        "CE mixed": (72.1, 95.5),
    }
    assert not plans["BC5CDR"][0].paper
    assert list(plan_corpora(CONFIG.with_name("study_nil.cfg"))) == [""]


def test_one_table_of_all_corpora_beside_the_papers(overrides, tmp_path):
    done = study(tmp_path / "out", overrides, "--only", "* random", "--json")
    assert done.exit_code == 0, done.output
    lines = (tmp_path / "out" / "study.md").read_text().splitlines()
    table = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    claims = next(number for number, row in enumerate(table) if row[:2] == ["corpus", "claim"])
    head, rows = table[0], table[2:claims]
    assert head[:4] == ["corpus", "run", "recall@1", "recall@64"]
    trained = [row for row in rows if not row[1].startswith("untrained")]
    labels = ["Pb random", "CE random"]
    assert [row[:2] for row in trained] == [[name, one] for name in ("MedMentions", "BC5CDR") for one in labels]
    paper = head.index("paper @1 / @64")
    assert [row[paper] for row in trained] == ["63.3 / 95.9", "55.7 / 94.0", "–", "–"]
    assert [row[0] for row in table[claims + 2 :]] == ["MedMentions", "BC5CDR"], "one claim has all of its runs"
    first, second = [line for line in lines if ". Ours: " in line]
    assert "2 updates, 16 entities" in first and "2,360,000 entities" in first
    assert "2 updates, 15 entities" in second and "no results on BC5CDR" in second
    report = json.loads(done.stdout)["corpora"]
    for name, (n_entities, n) in {"MedMentions": (16, 17), "BC5CDR": (15, 17)}.items():
        results = report[name]["results"]
        assert {(one["kb_entities"], one["n"]) for one in results} == {(n_entities, n)}
        assert (tmp_path / "out" / name / "CE-random" / "seed0" / "model-best").is_dir()


def test_a_mistake_in_the_second_corpus_is_found_before_training_on_the_first(overrides, tmp_path):
    done = study(tmp_path / "out", {**overrides, f"{SECOND}.paths.train": str(tmp_path / "none.jsonl")})
    assert done.exit_code == 2 and "none.jsonl" in done.stderr
    assert not list((tmp_path / "out").rglob("*.json*"))


def test_an_override_that_every_corpus_replaces_is_refused(overrides):
    with pytest.raises(PelError, match="E677.*study.paper_size reaches no corpus"):
        plan_corpora(CONFIG, {**overrides, "study.paper_size": "x"})


def test_a_corpus_that_is_not_there(overrides):
    with pytest.raises(PelError, match=r"E677.*study\.corpora\.BC5.*does not have"):
        plan_corpora(CONFIG, {**overrides, "study.corpora.BC5.paths.kb": "x"})

"""project.yml: its lists survive spaCy's config system, and its workflow runs on the tiny data."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import srsly
from typer.testing import CliRunner
from weasel.cli import run as weasel_run
from weasel.util import load_project_config

from spacy_pel.corpora import read_corpus, write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity, Mention
from spacy_pel.types.semantic_types import ST21PV
from spacy_pel.util.config import load_config

ROOT = Path(__file__).parents[1]


def tiny_options():
    """What ``make smoke`` sets."""
    text = (ROOT / "Makefile").read_text(encoding="utf8").replace("\\\n", " ")
    words = shlex.split(re.search(r"^TINY := (.*)$", text, re.MULTILINE)[1])
    values = (json.loads(word) if word.isdigit() else word for word in words[1::2])
    return {name.removeprefix("--"): value for name, value in zip(words[::2], values, strict=True)}


@pytest.fixture
def project(tmp_path):
    shutil.copy(ROOT / "project.yml", tmp_path)
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    shutil.copytree(ROOT / "assets" / "tiny", tmp_path / "assets" / "tiny")
    return tmp_path


@pytest.fixture
def one_process(monkeypatch):
    """Runs the commands of scripts in this process, which saves starting Python fifteen times."""
    from spacy.cli._util import app

    import spacy_pel.cli.spacy_plugin  # noqa: F401

    ran = []

    def run_command(command, **_):
        assert command[1:3] == ["-m", "spacy"], command
        result = CliRunner().invoke(app, command[3:])
        ran.append(command[3:])
        if result.exit_code:
            raise AssertionError(f"{command[3:]} failed: {result.output}") from result.exception

    monkeypatch.setattr(weasel_run, "run_command", run_command)
    return ran


def test_the_two_encoders_that_are_averaged_have_losses_of_their_own():
    pairs = [srsly.read_yaml(ROOT / "project.yml")["vars"], {key[5:]: value for key, value in tiny_options().items()}]
    for pair in pairs:
        losses = [load_config(ROOT / pair[name])["pel"]["loss"]["@pel_losses"] for name in ("config", "proxy_config")]
        assert losses == ["spacy-pel.CrossEntropy.v1", "spacy-pel.ProxySoftplus.v1"]


def test_lists_stay_as_they_are_written(project):
    written = srsly.read_yaml(project / "project.yml")
    read = load_project_config(project)
    for before, after in zip(written["commands"], read["commands"], strict=True):
        for key in ("script", "deps", "outputs"):
            assert len(before.get(key, [])) == len(after.get(key, [])), (before["name"], key)
    names = [command["name"] for command in read["commands"]]
    for before, after in zip(written["commands"], read["commands"], strict=True):
        # what has no variable in it is word for word the same, quotes and brackets too
        ends = [[line.rpartition("}")[2] for line in one["script"]] for one in (before, after)]
        assert all(then.endswith(now) for now, then in zip(*ends, strict=True)), before["name"]
    assert set(sum(read["workflows"].values(), [])) <= set(names)
    assert {"all", "encoder", "ner", "mesh", "paper"} <= set(read["workflows"]) and {"train", "smoke"} <= set(names)
    assert read["vars"]["gpu_id"] == -1


def test_assets_have_checksums_and_origins():
    assets = srsly.read_yaml(ROOT / "project.yml")["assets"]
    assert all(re.fullmatch("[0-9a-f]{32}", asset["checksum"]) for asset in assets)
    assert all(asset["description"] and asset["dest"].startswith("${vars.data}/") for asset in assets)
    assert len({asset["dest"] for asset in assets}) == len(assets)


@pytest.mark.parametrize("config", ["open_cui", "medic"])
def test_sources_of_a_knowledge_base_are_assets(config):
    given = {asset["dest"].removeprefix("${vars.data}/") for asset in srsly.read_yaml(ROOT / "project.yml")["assets"]}
    sources = load_config(ROOT / "configs" / f"{config}.cfg")["merge"]["sources"]
    keys = ("files", "mappings", "via_mappings")
    files = {file for source in sources.values() for key in keys for file in source.get(key, ())}
    assert files and files <= given


@pytest.mark.parametrize(
    "steps",
    [["all", "mesh", "benchmark", "benchmark-mesh", "worlds"], ["medic", "benchmark-medic"], ["paper"]],
    ids=lambda steps: steps[0],
)
def test_every_command_needs_only_what_is_given_or_made_before(steps):
    config = load_project_config(ROOT)
    commands = {command["name"]: command for command in config["commands"]}
    given = [asset["dest"] for asset in config["assets"]]
    made = []
    for name in [name for step in steps for name in config["workflows"].get(step, [step])]:
        for path in commands[name]["deps"]:
            path = path.removeprefix("./").rstrip("/")
            assert (
                (ROOT / path).is_file()
                or path in made
                or any(one == path or one.startswith(f"{path}/") for one in [*given, *made])
            ), f"{name} needs {path}"
        made += commands[name]["outputs"]


@pytest.mark.slow
def test_train_takes_any_corpus(tmp_path, one_process):
    """There is nothing in the folder but project.yml, the configs and the user's own files."""
    project, own = tmp_path / "project", tmp_path / "own"
    (project / "mine").mkdir(parents=True)
    own.mkdir()
    shutil.copy(ROOT / "project.yml", project)
    shutil.copytree(ROOT / "configs", project / "configs")
    entities = [Entity(f"C{i}", name, (f"{name} disorder",)) for i, name in enumerate(("gout", "asthma", "fever"))]
    KnowledgeBase.build(entities, project / "mine" / "kb")
    document = Document("1", "She has gout, asthma.", [Mention(8, 12, "", ("C0",)), Mention(14, 20, "", ("C1",))])
    write_corpus(project / "mine" / "train.jsonl", [document])
    write_corpus(own / "dev.jsonl", [document])
    values = {"train": "mine/train.jsonl", "dev": str(own / "dev.jsonl"), "kb": "mine/kb", "steps": 2}
    values |= {"config": "configs/tiny_ce.cfg", "proxy_config": "configs/tiny.cfg"}
    overrides = {f"vars.{name}": value for name, value in values.items()}
    weasel_run.project_run(project, "train", overrides=overrides)
    for name in ("encoder_ce", "encoder_proxy"):
        steps = [record["step"] for record in srsly.read_jsonl(project / "training" / name / "metrics.jsonl")]
        assert steps == [0, 1, 2] and (project / "training" / name / "learning_curve.png").is_file()
    assert (project / "training" / "encoder" / "model-best" / "bi_encoder.json").is_file()
    ran = len(one_process)
    weasel_run.project_run(project, "train", overrides=overrides)
    assert len(one_process) == ran, "nothing changed, so nothing runs again"
    write_corpus(own / "dev.jsonl", [document, Document("2", document.text, document.mentions)])
    with pytest.raises(AssertionError, match="E314"):  # it runs again, and finds its output
        weasel_run.project_run(project, "train", overrides=overrides)


@pytest.mark.slow
def test_workflow_runs_and_runs_once(project, one_process):
    pytest.importorskip("scispacy", reason="the detector is trained with its tokenizer")
    weasel_run.project_run(project, "all", overrides=tiny_options())
    ran = len(one_process)
    assert ran >= 14
    metrics = srsly.read_json(project / "metrics" / "st21pv_test" / "metrics.json")
    assert metrics["n"] == 20 and metrics["n_nil"] == 1
    for name, n in (("bc5cdr_test_cui", 5), ("ncbi_test_cui", 3)):
        assert srsly.read_json(project / "metrics" / name / "metrics.json")["n"] == n, "mentions without a link are out"
    assert metrics["recall@1"] > 0.5, "the names in the KB alone find most of the mentions"
    learned = [
        srsly.read_json(project / "training" / name / "proxy_entity_linker" / "cfg.json")
        for name in ("pipeline_without_dev", "pipeline")
    ]
    assert learned[0] == learned[1] and learned[0]["calibrated_threshold"] is not None
    corpora = {path.stem: list(read_corpus(path)) for path in (project / "corpus").glob("*.jsonl")}
    assert_sides_are_apart(corpora)
    assert_other_corpora_agree(corpora)
    assert_detector_learns_types(corpora)
    weasel_run.project_run(project, "all", overrides=tiny_options())
    assert len(one_process) == ran, "nothing changed, so nothing runs again"


@pytest.mark.slow
def test_the_table_of_the_paper_is_made(project, one_process):
    weasel_run.project_run(project, "paper", overrides=tiny_options())
    table = (project / "training" / "paper" / "study.md").read_text(encoding="utf8")
    for run in ("Pb random", "Pb mixed", "CE random", "CE mixed"):
        assert table.count(f" | {run} | ") == 2, "on MedMentions and on BC5CDR"


def assert_sides_are_apart(corpora):
    """No document is on two sides: learned from, for choices, and of a test set."""
    ids = {name: {document.id for document in documents} for name, documents in corpora.items()}
    tests = ids["st21pv_test"] | ids["bc5cdr_test_cui"] | ids["ncbi_test_cui"]
    assert ids["st21pv_test"] == ids["st21pv_test_tokenised"] and len(tests) == 7
    assert not tests & ids["annotated"]
    assert ids["annotated_without_dev"] == ids["annotated"] - ids["st21pv_dev"]
    assert len(ids["st21pv_dev"]) == len(ids["st21pv_dev_train"]) == 5
    assert ids["annotated"] >= {"201", "202", "203", "301", "302"}, "BC5CDR and NCBI Disease are annotated text"


def assert_other_corpora_agree(corpora):
    found = {
        document.id: {(document.text[m.start : m.end], *m.ids) for m in document.mentions}
        for document in corpora["annotated"]
    }
    assert found["201"] == {("Aspirin", "C9000013"), ("asthma", "C9000003"), ("ASA", "C9000013")}
    assert found["202"] == {("emphysema", "C9000004")}, "a lung infection is another entity in MedMentions"
    labels = {name: {m.label for one in corpora[name] for m in one.mentions} for name in corpora}
    assert set().union(*(labels[name] for name in labels if not name.startswith("ner_"))) == {"ENTITY"}


def assert_detector_learns_types(corpora):
    train, dev = corpora["ner_train"], corpora["ner_dev"]
    assert {one.id for one in dev} == {one.id for one in corpora["st21pv_dev"]}
    assert not {one.id for one in dev} & {one.id for one in train}
    parts = [corpora[name] for name in ("ner_abstracts", "ner_notes", "ner_rough")]
    assert len(corpora["ner_notes"]) == 20 and len(train) <= sum(map(len, parts))
    labels = {m.label for one in train for m in one.mentions}
    assert {"BIOLOGIC_FUNCTION", "CHEMICAL"} < labels <= {*ST21PV.values(), ""}

"""info: what a pipeline is and needs, and what the other folders are that commands write."""

import pytest

from .conftest import ENTITIES, done, refused

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def facts(folder):
    return done("info", folder / "pipeline", "--json").json


def test_a_pipeline(folder, facts):
    assert facts["name"] == "en_pipeline" and facts["folder"] == str(folder / "pipeline")
    assert facts["components"] == {"entity_ruler": "entity_ruler", "proxy_entity_linker": "proxy_entity_linker"}
    assert facts["parts"]["encoder"] == "spacy-pel.HashEmbed.v1" and facts["encoder"]["width"] == 64
    assert facts["kb"]["counts"]["entities"] == len(ENTITIES) and facts["index"]["live_rows"]["card"] == len(ENTITIES)
    assert facts["calibration"] == {"nil_threshold": None, "by_label": {}, "n_mentions": 0}
    assert facts["precision"] == {}  # no transformer
    files = sum(file.stat().st_size for file in (folder / "pipeline").rglob("*") if file.is_file())
    assert facts["bytes"]["all"] == files > sum(facts["bytes"][part] for part in ("encoder", "index", "kb"))
    assert 0 < facts["seconds"]["first_link"] < facts["seconds"]["load"]
    for used in filter(None, facts["memory"].values()):  # in bytes; Python and spaCy alone need 50 MB
        assert 50e6 < used["own"] < 20e9 and used["mapped"] > 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kb", {"kind": "knowledge base", "format": 3}),
        ("index", {"kind": "index", "width": 64, "kinds": ["card", "alias", "mention"]}),
        ("model", {"kind": "encoder", "encoder": "spacy-pel.HashEmbed.v1"}),
        ("pipeline/proxy_entity_linker", {"kind": "entity linker"}),
        ("pipeline/proxy_entity_linker/kb", {"kind": "knowledge base"}),
    ],
)
def test_another_folder(folder, name, said):
    result = done("info", folder / name, "--json").json
    assert said.items() <= result.items() and result["bytes"] > 0
    assert f"kind  {said['kind']}".split() == done("info", folder / name).out.split("\n")[0].split()
    if said["kind"] == "knowledge base":
        assert result["kb"] == done("kb", "info", folder / name, "--json").json


def test_what_it_cannot_tell(folder, tmp_path):
    assert "a folder without config.cfg and manifest.json" in refused("E002", "info", tmp_path)
    assert "no such folder" in refused("E002", "info", tmp_path / "nowhere")
    assert "got a file" in refused("E002", "info", folder / "train.jsonl")
    (tmp_path / "manifest.json").write_text('{"name": "of a web page"}')
    assert "kind, format" in refused("E004", "info", tmp_path)
    assert "entity_ruler" in refused("E651", "info", folder / "ruler")

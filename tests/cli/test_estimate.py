"""estimate on texts without annotation."""

import json
import shutil

import pytest

from spacy_pel.corpora import read_corpus

from .conftest import done, refused

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def texts(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("estimate") / "texts.txt"
    path.write_text("".join(f"{document.text}\n" for document in read_corpus(folder / "dev.jsonl")))
    return path


@pytest.fixture(scope="module")
def calibrated(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("calibrated") / "pipeline"
    done("calibrate", folder / "pipeline", folder / "dev.jsonl", "--output", path)
    return path


def test_estimate_is_the_mean_of_what_link_writes(calibrated, texts, tmp_path):
    result = done("estimate", calibrated, texts, "--json")
    done("link", calibrated, texts, tmp_path / "linked.jsonl")
    lines = (tmp_path / "linked.jsonl").read_text().splitlines()
    mentions = [mention for line in lines for mention in json.loads(line)["mentions"]]
    found, probabilities = result.json, [mention["probability"] for mention in mentions]
    assert (found["n_documents"], found["n_left_out"], found["n"]) == (40, 0, len(mentions))
    assert found["expected_accuracy"] == pytest.approx(sum(probabilities) / len(probabilities), abs=1e-5)
    assert found["nil_share"] == pytest.approx(sum(m["kb_id"] == "NIL" for m in mentions) / len(mentions))
    assert found["labels"] == {"ENTITY": {key: found[key] for key in found["labels"]["ENTITY"]}}
    assert 0 < found["expected_coverage@98"] <= found["expected_coverage@95"] <= 1
    assert "calibrated" not in result.err


def test_texts_without_mentions(calibrated, folder, tmp_path):
    (tmp_path / "none.txt").write_text("Nothing is named here.\n")
    refused("E663", "estimate", calibrated, tmp_path / "none.txt")
    shutil.copy(tmp_path / "none.txt", tmp_path / "none.doc")
    refused("E640", "estimate", calibrated, tmp_path / "none.doc")

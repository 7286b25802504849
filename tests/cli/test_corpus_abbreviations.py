"""Abbreviations of texts, in a pipeline that reads texts without definitions."""

import pytest
import spacy

from .conftest import done, refused
from .test_kb_cli import run_json

pytestmark = pytest.mark.slow

TEXTS = "Acute stroke kit (ASK) is new. ASK helps.\nA kidney stone (KST) hurts.\nNone here.\n"


def candidates(pipeline):
    """Of a short form that a rule finds."""
    nlp = spacy.load(pipeline)
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "ENTITY", "pattern": "KST"}])
    return [key for key, _ in nlp("The KST was removed.").ents[0]._.pel_candidates]


@pytest.fixture
def table(tmp_path):
    (tmp_path / "texts.txt").write_text(TEXTS)
    mined = run_json("corpus", "abbreviations", tmp_path / "texts.txt", tmp_path / "abbreviations.tsv")
    assert (mined["short_forms"], mined["long_forms"]) == (2, 2)
    return tmp_path / "abbreviations.tsv"


def test_the_table(table, folder, tmp_path):
    rows = ["short_form\tlong_form\tuses\tdocuments", "ASK\tAcute stroke kit\t2\t1", "KST\tkidney stone\t1\t1"]
    assert table.read_text().splitlines() == rows
    more = done("corpus", "abbreviations", folder / "dev.jsonl", tmp_path / "none.tsv", "--kb", folder / "pipeline")
    assert "long_forms" in more.out
    assert (tmp_path / "none.tsv").read_text().splitlines() == rows[:1]


def test_a_pipeline_takes_them_in(table, pipeline, tmp_path):
    assert run_json("kb", "info", pipeline)["abbreviations"] == 0
    added = run_json("kb", "add", pipeline, table)
    assert added == {"long_forms": 2, "short_forms_in_all": 2}
    assert run_json("kb", "info", pipeline)["abbreviations"] == 2
    done("verify", pipeline)
    assert candidates(pipeline)[0] == "C4"  # kidney stone
    # entities may change after that
    (tmp_path / "retired.jsonl").write_text('{"concept_id": "C4", "retired": true}\n')
    done("kb", "add", pipeline, tmp_path / "retired.jsonl")
    assert "C4" not in candidates(pipeline)


def test_what_cannot_be_added(table, folder, pipeline):
    refused("E687", "kb", "add", pipeline, table, "--retire-missing")
    refused("E688", "kb", "add", folder / "kb", table)
    table.write_text(table.read_text() + "HF\theart failure\tmany\t1\n")
    assert "line 4" in refused("E002", "kb", "add", pipeline, table)
    assert run_json("kb", "info", pipeline)["abbreviations"] == 0

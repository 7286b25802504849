"""report on what evaluate wrote."""

import pytest

from spacy_pel.util import read_json, read_jsonl, write_jsonl

from .conftest import done, refused, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(runs):
    """Folders a and b; in a every mention gets the first candidate, in b every third is called NIL, and the
    others get the second one."""
    records = list(read_jsonl(runs / "a" / "predictions.jsonl"))
    for record in records:
        record["kb_id"] = record["candidates"][0][0]
    write_jsonl(runs / "a" / "predictions.jsonl", records)
    for number, record in enumerate(records):
        first, second = record["candidates"][:2]
        record["candidates"][:2] = second, first
        record["kb_id"] = second[0] if number % 3 else "NIL"
    write_jsonl(runs / "b" / "predictions.jsonl", records)
    return runs


def test_page(folder, runs, tmp_path):
    args = ["report", runs / "a", runs / "b", "--output", tmp_path / "r.html", "--title", "Two & more"]
    args += ["--corpus", folder / "dev.jsonl", "--kb", folder / "pipeline"]
    result = done(*args, "--json")
    html = (tmp_path / "r.html").read_text(encoding="utf8")
    assert result.json["bytes"] == len(html.encode()) < 1_000_000
    errors = result.json["errors"]
    n_nil = read_json(runs / "a" / "metrics.json")["n_nil"]
    assert errors["a"]["not_in_kb"] == n_nil and errors["a"]["wrong_first"] == 0
    assert errors["b"]["wrong_first"] + errors["b"]["nil_wrongly"] == 80 - n_nil
    n_errors = sum(sum(one.values()) for one in errors.values())
    assert result.json["errors_shown"] == html.count('<article class="error"') == n_errors
    assert "<h1>Two &amp; more</h1>" in html and "<b>gold</b>" in html
    assert ">aspirin</mark> in " in html and "We studied <mark class=" in html, "errors are shown in context"
    assert "heart attack" in html and "Disease or Syndrome" in html, "names and types come from the KB"
    assert html.count("<figure>") == 4 and "Difference from" in html


def test_one_run_without_corpus_and_kb(runs, tmp_path):
    done("report", runs / "b", "--output", tmp_path / "r.html", "--max-errors", 7)
    html = (tmp_path / "r.html").read_text(encoding="utf8")
    assert html.count('data-kind="wrong_first"') == html.count('data-kind="nil_wrongly"') == 7
    assert "Difference from" not in html and 'name="run"' not in html


def test_bad_input(folder, runs, tmp_path):
    output = ("--output", tmp_path / "r.html")
    assert "E680" in run("report", tmp_path, *output).err
    refused("E685", "report", runs / "a", *output, "--corpus", folder / "train.jsonl")
    assert "E686" in run("report", runs / "a", *output, "--kb", tmp_path).err
    assert not (tmp_path / "r.html").exists()

"""margins: Table 4 and Fig. 2 from folders of evaluate, against figures by hand."""

import json

import pytest
from cli.conftest import run
from spacy_pel_studies.reports.margins import COLUMNS, paper_results

from spacy_pel.evaluation import Prediction
from spacy_pel.util import write_json, write_jsonl

# gold, place of the gold entity, nil_score, called NIL
RUN_A = [
    ("", 0, 0.9, True),
    ("", 0, 0.5, False),
    ("G", 1, 0.7, True),
    ("G", 1, 0.1, False),
    ("G", 64, 0.2, False),
    ("G", 0, 0.3, False),
]
RUN_B = [("", 0, 0.9, True), ("", 0, 0.8, True), *(("G", 1, 0.1, False) for _ in range(4))]


def write_run(path, table, **metrics):
    records = []
    for number, (gold, place, score, called) in enumerate(table):
        candidates = [(f"X{i}", 1.0 - i / 100) for i in range(64)]
        if place:
            candidates[place - 1] = ("G", 0.5)
        kb_id = "NIL" if called else candidates[0][0]
        records.append(Prediction("d", number, number + 1, "x", "", [gold] * bool(gold), kb_id, candidates, score))
    write_jsonl(path / "predictions.jsonl", (record.to_json() for record in records))
    write_json(path / "metrics.json", {"threshold": 0.6, "top_k": 64, "nil_aupr_low": 0.5, **metrics})
    return path


@pytest.fixture
def runs(tmp_path):
    a, b = write_run(tmp_path / "a", RUN_A), write_run(tmp_path / "b", RUN_B)
    return ("--run", f"CE={a}", "--run", f"Pb δ=0.05={b}")


def test_figures_by_hand(runs, tmp_path):
    result = run("research", "margins", tmp_path / "out", *runs, "--json").json
    assert (result["n"], result["n_nil"]) == (6, 2)
    ce, pb = result["runs"]
    assert ce["nil_aupr"] == pytest.approx(0.5 * 1 / 1 + 0.5 * 2 / 3)  # NIL at places 1 and 3
    assert (ce["nil_precision"], ce["nil_recall"]) == (0.5, 0.5)
    assert ce["recall_all@1"] == pytest.approx(2 / 6)  # the NIL called so, and the fourth mention
    assert ce["recall_all@64"] == pytest.approx(3 / 6)  # and the one at place 64; the third was called NIL
    assert (ce["nil_aupr_low"], ce["nil_aupr_high"], ce["threshold"]) == (0.5, None, 0.6)
    assert [pb[name] for name in COLUMNS] == [1.0] * 5 and pb["run"] == "Pb δ=0.05"
    assert pb["paper"]["nil_aupr"] == pytest.approx(0.858) and ce["paper"]["recall_all@64"] == pytest.approx(0.761)


def test_table_and_figure(runs, tmp_path):
    out = run("research", "margins", tmp_path / "out", *runs).out
    line = next(line for line in out.splitlines() if line.startswith("CE"))
    assert line.split() == ["CE", *"83.3 50.0 50.0 33.3 50.0 32.3 31.8 74.0 64.4 76.1".split()]
    assert "6 mentions, 2 NIL (33.3%)" in out
    table = (tmp_path / "out" / "table4.md").read_text().splitlines()
    assert len(table) == 4 and table[3].startswith("| Pb δ=0.05 | 100.0 |")
    svg = (tmp_path / "out" / "nil_margins.svg").read_text()
    assert "<svg" in svg and (tmp_path / "out" / "nil_margins.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "out" / "margins.json").read_text())["n"] == 6
    again = tmp_path / "again"
    run("research", "margins", again, *runs)
    assert (again / "nil_margins.svg").read_text() == svg


@pytest.mark.parametrize(
    ("label", "aupr"),
    [
        ("Pb 0", 83.7),
        ("Pb 0.0", 83.7),
        ("Pb δ=.01", 84.4),
        ("pb-0.05 mixed", 85.8),
        ("Pb_0.10", 87.6),
        ("CE", 32.3),
        ("CE 64 mixed", 32.3),
        ("Pb", None),
        ("Pb 0.2", None),
        ("ours", None),
        ("distance 0.1", None),
    ],
)
def test_labels_of_the_paper(label, aupr):
    results = paper_results(label)
    assert (results and results["nil_aupr"]) == (aupr and pytest.approx(aupr / 100))


def test_a_run_of_another_name_has_no_paper_results(runs, tmp_path):
    out = run("research", "margins", tmp_path / "out", "--run", f"ours={tmp_path / 'a'}").out
    assert out.splitlines()[-1].split()[6:] == ["–"] * 5


def test_a_run_without_threshold_is_pointed_out(tmp_path):
    path = write_run(tmp_path / "a", RUN_A, threshold=None)
    result = run("research", "margins", tmp_path / "out", "--run", f"CE={path}")
    assert result.code == 0 and "CE has no NIL threshold" in result.err


def test_refused(runs, tmp_path):
    def error(*args):
        result = run("research", "margins", tmp_path / "out", *args)
        assert result.code == 2 and not (tmp_path / "out").exists()
        return result.err

    other = write_run(tmp_path / "other", [*RUN_A[:2], ("", 0, 0.9, True), *RUN_A[3:]])
    assert "E662" in (message := error(*runs, "--run", f"x={other}")) and "6 (3 NIL)" in message
    shorter = write_run(tmp_path / "shorter", RUN_A[:4])
    assert "E662" in error(*runs, "--run", f"x={shorter}")
    known = write_run(tmp_path / "known", RUN_A[2:])
    assert "E617" in error("--run", f"x={known}")
    few = write_run(tmp_path / "few", RUN_A, top_k=10)
    assert "E618" in error("--run", f"x={few}")
    assert "E627" in error("--run", "nothing") and "E627" in error(*runs, *runs)
    assert "E680" in error("--run", f"x={tmp_path / 'nowhere'}")

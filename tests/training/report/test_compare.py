"""Two evaluations side by side."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.evaluation import Outcomes, Prediction, compute_metrics
from spacy_pel.evaluation.outcomes import read_run
from spacy_pel.training.report.compare import compare_runs, mcnemar, run_names
from spacy_pel.util import write_json, write_jsonl


def write_run(path, predictions, **facts):
    write_jsonl(path / "predictions.jsonl", (prediction.to_json() for prediction in predictions))
    metrics = compute_metrics(Outcomes.of(predictions), n_samples=10)
    write_json(path / "metrics.json", {**metrics, "top_k": 64, **facts})
    return read_run(path)


def predictions(*, right):
    """Forty mentions in ten documents, every fifth NIL; mention i is right if i is in ``right``."""
    made = []
    for i in range(40):
        gold = [] if i % 5 == 0 else ["A"]
        candidates = [("A", 0.9), ("B", 0.1)] if i in right else [("B", 0.9), ("A", 0.1)]
        is_nil = i % 5 == 0 and i in right
        made.append(
            Prediction(
                *(f"d{i // 4}", i % 4, i % 4 + 1, "x", "L", gold),
                *("NIL" if is_nil else candidates[0][0], candidates, 0.8 if is_nil else 0.2),
                seen=bool(gold) and i % 4 != 3,
            )
        )
    return made


@pytest.fixture
def a(tmp_path):
    return write_run(tmp_path / "a", predictions(right=set(range(20))))


@pytest.fixture
def b(tmp_path):
    return write_run(tmp_path / "b", predictions(right=set(range(30)))[::-1])  # in another order


def test_seen_and_unseen_have_tests_and_intervals_of_their_own(a, b):
    rows = {row["name"]: row for row in compare_runs(a, b)["seen"]}
    places = {"seen": [i for i in range(40) if i % 5 and i % 4 != 3]}
    places["unseen"] = [i for i in range(40) if i % 5 and i % 4 == 3]
    for name, own in places.items():
        recall = rows[name]["recall@1"]
        assert (rows[name]["n"], rows[name]["n_nil"]) == (len(own), 0)
        assert recall["a"] == sum(i < 20 for i in own) / len(own)
        assert recall["b"] == sum(i < 30 for i in own) / len(own)
        assert recall["low"] <= recall["difference"] <= recall["high"]
        assert recall["test"]["n_only_b"] == sum(20 <= i < 30 for i in own) and not recall["test"]["n_only_a"]
        assert recall["test"]["significant"] is (recall["p_value"] < 0.05)


def test_figures_by_hand(a, b):
    found = compare_runs(a, b, groups={"all": np.ones(40, dtype=bool)})
    assert (found["n"], found["n_nil"], found["n_documents"]) == (40, 8, 10)
    recall = found["differences"]["recall@1"]
    assert (recall["a"], recall["b"], recall["difference"]) == (16 / 32, 24 / 32, 8 / 32)
    assert 0 < recall["low"] < 8 / 32 < recall["high"] and recall["significant"] is True
    assert found["differences"]["accuracy"]["difference"] == 10 / 40
    assert found["differences"]["recall@5"] == dict.fromkeys(("a", "b"), 1.0) | {
        **dict.fromkeys(("difference", "low", "high"), 0.0),
        "significant": False,
    }
    # NIL scores: a has 4 of 8 NIL mentions on top, b has 6, the others share the lowest score
    aupr = found["differences"]["nil_aupr"]
    assert aupr["a"] == pytest.approx(0.5 + 0.5 * 8 / 40) and aupr["b"] == pytest.approx(0.75 + 0.25 * 8 / 40)
    test = found["tests"]["recall@1"]
    assert [test[key] for key in ("n_both", "n_only_a", "n_only_b", "n_neither")] == [16, 0, 8, 8]
    assert test["p_value"] == pytest.approx(2 / 2**8) and test["significant"] is True
    assert found["tests"]["accuracy"]["n_only_b"] == 10
    row = found["groups"][0]
    assert (row["name"], row["n"], row["n_documents"]) == ("all", 40, 10)
    assert {key: row["recall@1"][key] for key in recall} == recall and row["recall@1"]["p_value"] < 0.05


def test_recall_beyond_the_candidates_is_left_out(a, tmp_path):
    short = write_run(tmp_path / "short", predictions(right={1}), top_k=4)
    assert "recall@5" not in compare_runs(a, short)["differences"]


def test_groups_without_linkable_mentions(a, b):
    row = compare_runs(a, b, groups={"nil": a.outcomes.is_nil})["groups"][0]
    assert "recall@1" not in row and row["accuracy"]["difference"] == 2 / 8


def test_other_gold_ids_are_refused(a, tmp_path):
    other = predictions(right={1})
    other[7] = replace(other[7], gold=[])
    other[8] = replace(other[8], gold=["C", "A"])
    with pytest.raises(PelError, match="E683.* 2 mentions.*d1, characters 3 to 4: A in .*a, NIL in .*other"):
        compare_runs(a, write_run(tmp_path / "other", other))


def test_mentions_with_the_same_offsets_stay_apart(tmp_path):
    """Two annotations of one span, told apart by their order."""
    twice = [replace(one, start=0, end=1) for one in predictions(right={1})]
    runs = [write_run(tmp_path / name, twice) for name in "ab"]
    assert len(set(runs[0].mentions)) == 40
    assert compare_runs(*runs)["n"] == 40


def test_folders_of_something_else(a, tmp_path):
    (tmp_path / "a" / "predictions.jsonl").write_text('{"doc": "d"}\n')
    with pytest.raises(PelError, match="E681.*'doc'"):
        read_run(tmp_path / "a")
    (tmp_path / "a" / "predictions.jsonl").write_text("")
    with pytest.raises(PelError, match="E681.*empty"):
        read_run(tmp_path / "a")


def test_names_of_runs(tmp_path):
    assert run_names([tmp_path / "x" / "one", tmp_path / "x" / "two"]) == ["one", "two"]
    assert run_names([tmp_path / "x" / "test", tmp_path / "y" / "test"]) == ["x/test", "y/test"]
    assert len(set(run_names([tmp_path, tmp_path]))) == 2


@pytest.mark.parametrize(("counts", "p_value"), [((90, 1, 6, 3), 0.125), ((0, 0, 6, 0), 2 / 64), ((5, 0, 0, 5), 1.0)])
def test_mcnemar_is_exact(counts, p_value):
    # 2 * (1 + 7) / 2^7: no or one head in seven throws, both tails
    a, b = (np.repeat(right, counts) for right in ([True, True, False, False], [True, False, True, False]))
    found = mcnemar(a, b)
    assert [found[key] for key in ("n_both", "n_only_a", "n_only_b", "n_neither")] == list(counts)
    assert found["p_value"] == pytest.approx(p_value) and found["significant"] is (p_value < 0.05)

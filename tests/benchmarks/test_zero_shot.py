"""The tables of the benchmark of ontologies without annotated text."""

from benchmarks.linkers import OURS
from benchmarks.zero_shot import table_of


def world(*values, unseen=0.5, n_seen=3):
    linkers = {
        name: {"recall@1": value, "accuracy_unseen": unseen, "n": 12, "n_nil": 2, "n_seen": n_seen}
        for name, value in zip((OURS, "peer"), values, strict=True)
    }
    interval = {"difference": 0.1, "low": 0, "high": 0.2}
    return {"linkers": linkers, "differences": {"peer": {"recall@1": interval, "recall@1 unseen": interval}}}


def columns_of(table):
    return [list(column.cells) for column in table.columns]


def test_means_and_differences():
    cells = columns_of(table_of({"A": world(0.9, 0.8), "B": world(0.5, 0.2)}, "recall@1", "recall@1"))
    assert cells[1] == ["10", "10", ""] and cells[2] == ["90.0", "50.0", "70.0"]
    assert cells[3] == ["80.0 (+10.0 [+0.0, +20.0])", "20.0 (+10.0 [+0.0, +20.0])", "50.0 (+20.0)"]


def test_a_world_without_unseen_entities():
    worlds = {"KNOWN": world(1, 1, unseen=None, n_seen=10), "NEW": world(1, 1, unseen=0.4, n_seen=4)}
    cells = columns_of(table_of(worlds, "accuracy_unseen", "recall@1 unseen"))
    assert cells[1] == ["0", "6", ""] and cells[2] == ["–", "40.0", "40.0"] and cells[3][0] == "–"

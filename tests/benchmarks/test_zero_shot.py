"""The benchmark of ontologies without annotated text, on a small one."""

import json

import pytest

from benchmarks import zero_shot
from benchmarks.linkers import OURS
from benchmarks.zero_shot import METRICS, main, table_of
from spacy_pel.corpora import write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity, Mention

pytestmark = pytest.mark.slow

NAMES = ["aspirin", "ibuprofen", "heart attack", "heart failure", "kidney stone", "kidney failure", "fever"]
TINY = "random:layers=1,width=384"


def documents(*gold):
    return [
        Document(f"{n}", f"A {name} here.", [Mention(2, 2 + len(name), "", (entity,))])
        for n, (name, entity) in enumerate(gold)
    ]


@pytest.fixture
def worlds(tmp_path):
    pytest.importorskip("scispacy")
    world = tmp_path / "worlds" / "SMALL"
    KnowledgeBase.build([Entity(f"C{i}", name) for i, name in enumerate(NAMES)], world / "kb")
    write_corpus(world / "train.jsonl", documents(("fever", "C6")))
    write_corpus(world / "test.jsonl", documents(("fever", "C6"), ("heart attacks", "C2"), ("gadget", "X")))
    return tmp_path / "worlds"


def test_the_command(worlds, tmp_path, run):
    done = run(main, worlds, tmp_path / "out", "--untrained", TINY)
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "out" / "zero_shot.json").read_text())
    found = report["worlds"]["SMALL"]
    assert list(found["linkers"])[:2] == [OURS, "untrained"] and set(found["differences"]) == {
        name for name in found["linkers"] if name != OURS
    }
    assert zero_shot.NEAREST in found["linkers"]
    assert found["linkers"][OURS]["recall@1"] == 1.0 and found["linkers"][OURS]["n_nil"] == 1
    assert all(title in done.stdout for title in METRICS.values()) and "mean" in done.stdout
    again = run(main, worlds, tmp_path / "out", "--untrained", "package:other")
    assert again.exit_code == 2 and "Choose another output folder" in again.output


def test_no_worlds(tmp_path, run):
    done = run(main, tmp_path, tmp_path / "out")
    assert done.exit_code == 2 and "kb-worlds" in done.output


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

"""Hard negatives in training: when they are mined, for which examples, and resuming."""

import json
from pathlib import Path

import numpy as np
import pytest

from spacy_pel.corpora import write_corpus
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.checkpoint import Progress
from spacy_pel.training.negatives import HardNegatives, MinedNegatives
from spacy_pel.training.retriever.batches import BatchPlanner
from spacy_pel.training.retriever.miner import Miner
from spacy_pel.training.retriever.settings import ViewSettings
from spacy_pel.types import Document, Entity, Mention

from ..conftest import ENTITIES, NAMES, build_examples, document, make_documents, random_encoder

pytestmark = pytest.mark.slow

HARD = {"pel__negatives__@pel_negatives": "spacy-pel.HardNegatives.v1"}
MIXED = {"pel__negatives__@pel_negatives": "spacy-pel.MixedNegatives.v1"}


@pytest.fixture(scope="module")
def encoder():
    return random_encoder()


@pytest.fixture(scope="module")
def store(encoder):
    # two entities bear the same name, one was merged into another
    kb = KnowledgeBase([*ENTITIES, Entity("C50", "Acute-Fever", ("fever",)), Entity("OLD", "old gout")])
    kb.retire(["OLD"], {"OLD": f"C{NAMES.index('gout')}"})
    documents = [*make_documents(), document(77, ["gout"], ids=("OLD",))]
    return build_examples(kb, [*documents, document(78, ["fever"], ids=("C2", "C50"))], encoder)


def make_planner(store, negatives, alias_share=0.3):
    views = ViewSettings(alias_share=alias_share)
    return BatchPlanner(store, views=views, negatives=negatives, batch_size=8, pad_id=0, seed=0)


# -- the schedule -------------------------------------------------------------------------------


def planned(store, **schedule):
    return Miner(make_planner(store, HardNegatives()), Path("unused"), **schedule)


def test_when_it_is_due(store):
    assert planned(store).planner.batches_per_epoch == 8  # 43 mentions and 18 names in batches of 8
    assert [s for s in range(30) if planned(store).is_due(s)] == [0, 8, 16, 24]
    assert [s for s in range(30) if planned(store, every_epochs=2).is_due(s)] == [0, 16]
    assert [s for s in range(30) if planned(store, every_epochs=0).is_due(s)] == [0]
    # an update that begins an epoch within: mined before the next one
    assert [s for s in range(9) if planned(store, accumulate=3).is_due(s)] == [0, 3, 6, 8]


@pytest.mark.parametrize("case", [{}, {"every_epochs": 2}, {"accumulate": 3}], ids=str)
def test_mined_are_the_examples_that_come_until_the_next_mining(store, case):
    schedule, total = planned(store, **case), 20
    per_epoch, seen = schedule.planner.batches_per_epoch, {}
    for step in range(total):
        due = step if schedule.is_due(step) else due  # noqa: F821
        for number in range(step * schedule.accumulate, (step + 1) * schedule.accumulate):
            plan = schedule.planner.plan(number // per_epoch)
            seen.setdefault(due, set()).update(plan[number % per_epoch].tolist())
    assert len(seen) > 1
    for due, examples in seen.items():
        assert schedule.examples_until_next(due, total).tolist() == sorted(examples)


# -- what is mined ------------------------------------------------------------------------------------


def test_the_table_has_the_nearest_that_are_not_gold(store, encoder, tmp_path):
    planner = make_planner(store, HardNegatives(n_negatives=5), alias_share=0.6)
    miner = Miner(planner, tmp_path)
    state = Progress("x")
    miner.before_update(encoder, state, 6)
    assert state.mined == 1 and isinstance(planner.mined.rows, np.memmap)
    examples = np.array(planner.mined.examples)
    assert 40 < len(examples) <= 48 and examples.max() >= len(store.mentions), "names without context too"
    anchors = encoder.encode_tokens("mention", store.anchors(examples)).astype(np.float64)
    scores = anchors @ encoder.encode_tokens("entity", store.cards).astype(np.float64).T
    for gold, row, own in zip(store.gold(examples), planner.mined.rows, scores, strict=True):
        assert not np.isin(row, gold).any()
        own[gold] = -np.inf
        np.testing.assert_allclose(np.sort(own)[::-1][:5], own[row], atol=0.01)  # computed in bfloat16
    batch = planner.build(planner.plan(0)[0], 0)
    assert batch.negative_mask[:, len(batch) :].sum(axis=1).tolist() == [5] * len(batch)


def test_entities_of_the_same_name_are_right_answers_too(store):
    names = len(store.mentions) + np.arange(len(store.names))
    fever, fifty = NAMES.index("fever"), len(ENTITIES)
    shared = [gold.tolist() for gold in store.gold(names) if len(gold) > 1]
    # "fever" of both, and "acute fever" of one in another spelling
    assert shared == [[fever, fifty]] * 4
    last = np.arange(len(store.mentions))[-2:]
    assert [gold.tolist() for gold in store.gold(last)] == [[NAMES.index("gout")], [fever, fifty]]


# -- trainings ----------------------------------------------------------------------------------------


def test_negatives_become_fresher(train, tmp_path, monkeypatch):
    tables = []
    monkeypatch.setattr(
        MinedNegatives, "from_disk", lambda path, load=MinedNegatives.from_disk: tables.append(load(path)) or tables[-1]
    )
    train(tmp_path / "run", pel__training__max_steps=24, **HARD)
    assert len(tables) == 3
    one, two = (dict(zip(t.examples.tolist(), t.rows.tolist(), strict=True)) for t in (tables[0], tables[2]))
    both = one.keys() & two.keys()
    assert both and any(one[example] != two[example] for example in both)


CASES = {
    "each epoch, after a checkpoint": (9, HARD),
    "right at a mining": (11, {**HARD, "pel__training__max_steps": 14}),
    "mixed, own, accumulated": (
        *(6, {**MIXED, "pel__negatives__shared": False, "pel__training__accumulate_gradient": 2}),
    ),
}


@pytest.mark.parametrize(("step", "changes"), CASES.values(), ids=CASES.keys())
def test_stopped_and_resumed(check_resuming, step, changes):
    whole = check_resuming(step, **changes)
    assert len(list((whole / "mining").glob("table-*"))) == 1, "older tables are deleted"


def test_more_steps_than_were_planned(train, tmp_path):
    changes = {**HARD, "pel__training__mining__every_epochs": 0}
    train(tmp_path / "run", pel__training__max_steps=4, **changes)
    train(tmp_path / "run", resume=True, pel__training__max_steps=8, **changes)
    progress = json.loads((tmp_path / "run" / "checkpoint" / "progress.json").read_text())
    assert progress["step"] == 8 and progress["mined"] == 2


# -- negatives from a file ------------------------------------------------------------------------------


def test_negatives_from_a_file(train, data, tmp_path, encoder):
    from spacy_pel.training.retriever.miner import read_mined_negatives

    documents = [Document(f"d{i}", "fever and gout", [Mention(0, 5, "", ("C2",))]) for i in range(4)]
    write_corpus(tmp_path / "train.jsonl", documents)
    kb = KnowledgeBase.from_disk(data["paths.kb"])
    lines = [
        {"doc": "d0", "start": 0, "end": 5, "negatives": [["C7", 0.9], ["C2", 0.8], ["C4", 0.7]]},
        {"doc": "d3", "start": 0, "end": 5, "negatives": [["X", 0.9], ["C1", 0.8]]},
        {"doc": "d9", "start": 0, "end": 5, "negatives": [["C7", 0.9]]},
    ]
    path = tmp_path / "mined.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = read_mined_negatives(path, kb, build_examples(kb, documents, encoder))
    assert table.examples.tolist() == [0, 3] and table.rows.tolist() == [[7, 4], [1, -1]]
    changes = {**HARD, "paths__train": str(tmp_path / "train.jsonl"), "paths__negatives": str(path)}
    with pytest.raises(PelError, match="4 or more mined negatives.*got 2"):
        train(tmp_path / "run", **changes)
    changes["pel__negatives__n_negatives"] = 2
    train(tmp_path / "run", pel__training__max_steps=2, **changes)
    assert not (tmp_path / "run" / "mining").exists()
    path.write_text(json.dumps(lines[0]) + "\n")
    with pytest.raises(PelError, match="E312"):
        train(tmp_path / "run", resume=True, **changes)


@pytest.mark.parametrize(
    ("text", "came"), [("", "none of them"), ('{"doc": "d0"}\n', "line 1"), ('{"doc": 1, "start"', "line 1")]
)
def test_bad_files_of_negatives(train, tmp_path, text, came):
    path = tmp_path / "mined.jsonl"
    path.write_text(text)
    with pytest.raises(PelError, match=came) as error:
        train(tmp_path / "run", paths__negatives=str(path), **HARD)
    assert "\n" not in str(error.value)

"""Joined worlds: ids that cannot meet, batches and negatives of one world, a training on them."""

import numpy as np
import pytest
from spacy_pel_studies.worlds.worlds import WorldTrainer, join_worlds, world_numbers
from training.conftest import CONFIG, ENTITIES, SMALL, document, make_documents

from spacy_pel.corpora import read_corpus, write_corpus
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.negatives import DrawRequest
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.settings import read_settings
from spacy_pel.types import Entity

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """Two worlds with the same ids and some of the same names, one of them larger."""
    folder = tmp_path_factory.mktemp("worlds")
    others = [Entity(f"C{i}", f"{e.canonical_name} tool", (e.canonical_name,)) for i, e in enumerate(ENTITIES)]
    others += [Entity(f"T{i}", f"thing {i}") for i in range(100)]
    for name, entities in (("ILL", ENTITIES), ("TOOL", others)):
        redirects = {"OLD": "C0"} if name == "ILL" else {}
        KnowledgeBase.build(entities, folder / name / "kb", redirects=redirects)
        write_corpus(folder / name / "train.jsonl", make_documents(12))
        write_corpus(folder / name / "dev.jsonl", make_documents(4, first=50))
    extra = [*read_corpus(folder / "ILL" / "train.jsonl"), document(99, ["fever"], ids=("OLD",))]
    write_corpus(folder / "ILL" / "train.jsonl", extra)
    return folder


@pytest.fixture(scope="module")
def joined(worlds, tmp_path_factory):
    return join_worlds(worlds, ["ILL", "TOOL"], tmp_path_factory.mktemp("joined"), splits=("train", "dev"))


def settings_of(joined, **changes):
    paths = {f"paths.{name}": str(path) for name, path in joined.items()}
    changed = {name.replace("__", "."): value for name, value in changes.items()}
    return read_settings(CONFIG, {**paths, **SMALL, "pel.training.max_steps": 4, **changed})


def prepared(joined, tmp_path, **changes):
    trainer = WorldTrainer(settings_of(joined, **changes), tmp_path / "out")
    trainer.load_data()
    trainer.encoder.initialize()
    return trainer.make_task().planner, world_numbers(trainer.kb)


def example_worlds(planner, world):
    return world[np.concatenate([planner.store.mention_entity, planner.store.name_entity])]


def test_joining(joined):
    kb = KnowledgeBase.from_disk(joined["kb"])
    assert len(kb) == 2 * len(ENTITIES) + 100 and kb["TOOL/C0"].canonical_name == "heart attack tool"
    assert np.bincount(world_numbers(kb)).tolist() == [len(ENTITIES), len(ENTITIES) + 100]
    documents = list(read_corpus(joined["train"]))
    assert len({one.id for one in documents}) == len(documents) == 27
    ids = {one.id: {i for mention in one.mentions for i in mention.ids} for one in documents}
    assert ids["ILL/d99"] == {"ILL/C0"}, "the world's own redirects are followed"
    assert all(i.startswith(name.split("/")[0]) and i in kb for name, found in ids.items() for i in found)


def test_a_world_that_is_not_there(worlds, tmp_path):
    with pytest.raises(PelError, match="NOWHERE"):
        join_worlds(worlds, ["ILL", "NOWHERE"], tmp_path, splits=("train",))
    with pytest.raises(PelError, match="val"):
        join_worlds(worlds, ["ILL"], tmp_path, splits=("val",))


@pytest.mark.parametrize("alias_share", [0.0, 0.5])
def test_batches_are_of_one_world(joined, tmp_path, alias_share):
    planner, world = prepared(joined, tmp_path, pel__positives__alias_share=alias_share)
    of_example = example_worlds(planner, world)
    n_mentions = len(planner.store.mentions)
    for epoch in (0, 1):
        plan = planner.plan(epoch)
        assert len(plan) == planner.batches_per_epoch
        assert all(len(set(of_example[batch].tolist())) == 1 for batch in plan)
        assert {int(of_example[batch[0]]) for batch in plan} == {0, 1}
        examples = np.concatenate(plan)
        assert sorted(examples[examples < n_mentions]) == list(range(n_mentions))
        names = of_example[examples[examples >= n_mentions]]
        assert len(set(examples.tolist())) == len(examples)
        # as many names as mentions in each world, though the second has many more names
        n_names = np.bincount(names, minlength=2).tolist()
        assert n_names == (np.bincount(of_example[:n_mentions]).tolist() if alias_share else [0, 0])
    assert [b.tolist() for b in planner.plan(0)] == [b.tolist() for b in planner.plan(0)]
    assert [b.tolist() for b in planner.plan(0)] != [b.tolist() for b in planner.plan(1)]


@pytest.mark.parametrize("shared", [True, False])
def test_negatives_are_of_the_batchs_world(joined, tmp_path, shared):
    changes = {"pel__negatives__shared": shared, "pel__negatives__n_negatives": 30}
    planner, world = prepared(joined, tmp_path, **changes)
    of_example = example_worlds(planner, world)
    for number, batch in enumerate(planner.plan(0)):
        gold, rng = planner.store.gold(batch), np.random.default_rng(number)
        draw = planner.negatives.sample(DrawRequest(batch, gold, planner.store.n_entities, rng))
        assert len(draw.rows) == 30 * (1 if shared else len(batch)) and draw.mask.any()
        assert set(world[draw.rows].tolist()) == {int(of_example[batch[0]])}
        for ids, mask in zip(gold, draw.mask, strict=True):
            assert not np.isin(draw.rows[mask], ids).any()
        assert planner.build(batch, number).negative_mask.shape[1] == len(batch) + len(draw.rows)


@pytest.mark.parametrize(("kind", "shared"), [("Hard", False), ("Mixed", True)])
def test_hard_negatives_are_mined_in_the_mentions_world(joined, tmp_path, kind, shared):
    """By the model in training: the nearest of the mention's own world, and all of them if there are few."""
    part = {"@pel_negatives": f"spacy-pel.{kind}Negatives.v1", "n_negatives": 6, "depth": 40, "shared": shared}
    changes = {"pel__negatives": part, "pel__positives__alias_share": 0.3}
    seen = []

    class Watched(WorldTrainer):
        def before_update(self, state, total):
            super().before_update(state, total)
            seen.append((self.miner.planner, self.miner.planner.mined))

        def build(self, planner, plan, number):
            gold = planner.store.gold(plan)
            rng = np.random.default_rng([planner.seed, 2, number])
            draw = planner.negatives.sample(DrawRequest(plan, gold, planner.store.n_entities, rng, planner.mined))
            world = world_numbers(KnowledgeBase.from_disk(joined["kb"]))
            own = example_worlds(planner, world)[plan[0]]
            assert draw.mask.any() and (world[draw.rows] == own).all()
            return super().build(planner, plan, number)

    Watched(settings_of(joined, **changes), tmp_path / "out").run()
    world = world_numbers(KnowledgeBase.from_disk(joined["kb"]))
    assert len(seen) == 4
    for planner, mined in seen:
        of_example = example_worlds(planner, world)
        assert set(of_example[mined.examples].tolist()) == {0, 1}
        for example, rows in zip(mined.examples.tolist(), mined.rows, strict=True):
            found, own = rows[rows >= 0], of_example[example]
            assert set(world[found].tolist()) == {own}, "no negative is of another world"
            gold = planner.store.gold(np.array([example]))[0]
            assert len(found) == min(40, (world == own).sum() - len(gold))


def test_training_and_what_a_checkpoint_is_of(joined, tmp_path):
    best = WorldTrainer(settings_of(joined), tmp_path / "out").run()
    assert 1 <= best["step"] <= 4 and (tmp_path / "out" / "model-best" / "bi_encoder.json").is_file()
    longer = settings_of(joined, pel__training__max_steps=6)
    with pytest.raises(PelError, match="E312"):
        Trainer(longer, tmp_path / "out").run(resume=True)
    longer = settings_of(joined, pel__training__max_steps=6)
    assert WorldTrainer(longer, tmp_path / "out").run(resume=True)["step"] <= 6

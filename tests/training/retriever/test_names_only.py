"""Training on names alone: pairs of names, held-out names that are never trained on, one loop for all."""

import numpy as np
import pytest

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.retriever.dev import HeldOutNames
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.settings import DevSettings, read_settings
from spacy_pel.types import Entity
from spacy_pel.util import normalize_alias

from ..conftest import CONFIG, ENTITIES, metrics

CONFIG_OF_NAMES = CONFIG.with_name("names_only.cfg")
SMALL = {
    "pel__encoder__name": "random:layers=1,width=16",
    "pel__encoder__pooling": "cls",
    "pel__encoder__store": "float32",
    "pel__training__batch_size": 8,
    "pel__training__max_steps": 12,
    "pel__training__eval_frequency": 4,
    "pel__training__optimizer__learn_rate": 0.01,
    "pel__training__dev__n_mentions": 4,
    "pel__training__dev__n_entities": 0,
    "pel__training__dev__recall_at": [1, 5],
}


@pytest.fixture
def train(data, tmp_path):
    """A function that trains configs/names_only.cfg, smaller, with some settings changed."""

    def run(output, resume=False, trainer=Trainer, **changes):
        return trainer(settings_of(data, changes), output, show_progress=False).run(resume=resume)

    return run


def settings_of(data, changes):
    changes = {name.replace("__", "."): value for name, value in {**SMALL, **changes}.items()}
    return read_settings(CONFIG_OF_NAMES, {"paths.kb": data["paths.kb"], **changes})


def make_trainer(data, tmp_path, **changes):
    trainer = Trainer(settings_of(data, changes), tmp_path / "run", show_progress=False)
    trainer.load_data()
    trainer.encoder.initialize()
    return trainer


def test_pairs_are_two_names_of_one_entity_that_is_not_held_out(data, tmp_path):
    trainer = make_trainer(data, tmp_path)
    planner = trainer.make_task().planner
    store, held_out = planner.store, {ids[0] for ids in trainer.dev.gold}
    assert len(store.mentions) == 0 and len(held_out) == 4
    examples = np.concatenate(planner.plan(0))
    assert len(set(examples.tolist())) == len(examples) == 3 * (len(ENTITIES) - 4), "each name once an epoch"
    assert not held_out & {ENTITIES[entity].concept_id for entity in store.entity_of(examples)}
    texts = {tuple(store.names[row].tolist()): row for row in range(len(store.names))}
    pairs = 0
    for step, batch_examples in enumerate(planner.plan(0)):
        batch = planner.build(batch_examples, step)
        entity = store.entity_of(batch_examples)
        assert (batch.negative_mask == (entity[:, None] != entity[None, :])).all()
        for side in batch.entities:
            for ids, mask, place in zip(side.ids, side.mask, side.places, strict=True):
                name = texts[tuple(ids[mask == 1].tolist())]
                assert store.name_entity[name] == entity[place] and name != batch_examples[place]
                pairs += 1
    assert pairs == len(examples)


def test_names_that_are_searched_for_are_hidden_and_their_namesakes_held_out():
    entities = [
        Entity("A", "flu", ("grippe",)),
        Entity("B", "Grippe", ("influenza virus",)),
        Entity("C", "gout", ("podagra", "Gout")),
        Entity("D", "fever"),
    ]
    kb = KnowledgeBase(entities)
    for seed in range(8):
        dev = HeldOutNames(kb, DevSettings(n_mentions=1, n_entities=0, recall_at=[1]), seed)
        (mention,), ((gold,),) = dev.mentions, dev.gold
        entity = dev.kb[gold]
        assert gold != "D", "it has one name"
        assert normalize_alias(mention.text) not in map(normalize_alias, (entity.canonical_name, *entity.aliases))
        assert len(dev.kb) == 4 and [dev.kb[e.concept_id] for e in entities if e.concept_id != gold] == [
            e for e in entities if e.concept_id != gold
        ]
        held_out = {kb.id_at(int(row)) for row in dev.held_out}
        assert held_out == ({"C"} if gold == "C" else {"A", "B"})
        assert 0 <= dev(HashEmbed(width=32))["recall@1"] <= 100


def test_it_learns_and_resumes(train, check_resuming, tmp_path):
    whole = check_resuming(6)
    log = metrics(whole)
    assert [record["step"] for record in log] == [2, 4, 6, 8, 10, 12] and log[-1]["loss"] < log[0]["loss"]
    load_encoder(whole / "model-best")
    with pytest.raises(PelError, match="E312"):
        train(whole, resume=True, pel__training__dev__n_mentions=3)


def test_nothing_is_left_to_train_on(train, tmp_path):
    with pytest.raises(PelError, match="E319.*n_mentions"):
        train(tmp_path / "run", pel__training__dev__n_mentions=0)

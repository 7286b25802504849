"""Examples and batches: each mention once an epoch, nothing stands for itself, gold is never pushed."""

import logging

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.negatives import DrawRequest, InBatchNegatives, RandomNegatives
from spacy_pel.training.retriever.batches import BatchPlanner
from spacy_pel.training.retriever.settings import ViewSettings
from spacy_pel.types import Document, Mention

from ..conftest import ENTITIES, NAMES, build_examples, document, make_documents, random_encoder


@pytest.fixture(scope="module")
def encoder():
    return random_encoder()


@pytest.fixture(scope="module")
def store(encoder):
    several = [document(90 + i, [NAMES[i]], ids=(f"C{i}", f"C{i + 1}", "C7")) for i in range(6)]
    return build_examples(KnowledgeBase(ENTITIES), [*make_documents(), *several], encoder)


NEGATIVES = {
    "in batch": InBatchNegatives(),
    "random": RandomNegatives(n_negatives=5),
    "shared": RandomNegatives(n_negatives=5, shared=True),
    "shared, in batch": RandomNegatives(n_negatives=5, shared=True, in_batch=True),
}


def shares(views):
    """Views whose shares sum to 1."""
    weights = {name: views.get(name, float(name == "card")) for name in ("card", "name", "mention")}
    total = sum(weights.values())
    return {**views, **{name: weight / total for name, weight in weights.items()}}


def make_planner(store, *, seed=0, negatives="in batch", batch_size=8, **views):
    return BatchPlanner(
        store,
        views=ViewSettings(**shares(views)),
        negatives=NEGATIVES[negatives],
        batch_size=batch_size,
        pad_id=0,
        seed=seed,
    )


def sequences(sides, n):
    """Tower and tokens of each place."""
    found = {}
    for side in sides:
        assert set(side.mask.ravel().tolist()) <= {0, 1} and (side.ids[side.mask == 0] == 0).all()
        for ids, mask, place in zip(side.ids, side.mask, side.places, strict=True):
            assert place not in found
            found[place] = (side.tower, tuple(ids[mask == 1].tolist()))
    assert sorted(found) == list(range(n))
    return [found[place] for place in range(n)]


def rows_of(tokens):
    return {tuple(tokens[row].tolist()): row for row in range(len(tokens))}


# -- the plan of an epoch -----------------------------------------------------------------------


@pytest.mark.parametrize("alias_share", [0.0, 0.3, 0.5, 0.99])
def test_each_mention_once_an_epoch_and_a_draw_of_names(store, alias_share):
    planner = make_planner(store, alias_share=alias_share)
    batches = planner.plan(0)
    assert len(batches) == planner.batches_per_epoch
    assert max(map(len, batches)) <= 8
    examples = np.concatenate(batches)
    n_mentions = len(store.mentions)
    assert sorted(examples[examples < n_mentions]) == list(range(n_mentions))
    names = examples[examples >= n_mentions] - n_mentions
    assert len(set(names)) == len(names)
    expected = min(round(n_mentions * alias_share / (1 - alias_share)), len(store.names))
    assert len(names) == expected


# -- one batch --------------------------------------------------------------------------------


@pytest.mark.parametrize("negatives", NEGATIVES)
def test_gold_is_never_a_negative(store, negatives):
    cards = rows_of(store.cards)
    planner = make_planner(store, negatives=negatives, alias_share=0.3)
    request = DrawRequest(np.arange(0), [], 5, np.random.default_rng())
    n_mentions, in_batch = len(store.mentions), NEGATIVES[negatives].sample(request)
    pushed = several = 0
    for step, examples in enumerate(planner.plan(0)):
        batch = planner.build(examples, step)
        n, columns = batch.negative_mask.shape
        assert n == len(batch) == len(examples)
        entities = [cards[tokens] for _, tokens in sequences(batch.entities, columns)]
        for i, example in enumerate(examples):
            gold = (
                store.mention_gold[example].tolist()
                if example < n_mentions
                else [int(store.name_entity[example - n_mentions])]
            )
            assert entities[i] == gold[0]
            several += len(gold) > 1
            for j, entity in enumerate(entities):
                if entity in gold:
                    assert not batch.negative_mask[i, j]
                elif j < n:
                    assert batch.negative_mask[i, j] == in_batch.in_batch
                pushed += batch.negative_mask[i, j]
    assert pushed and several


def test_a_batch_follows_from_seed_and_step(store):
    def build(seed, step):
        planner = make_planner(store, seed=seed, negatives="shared", name=1.0, mention=1.0)
        batch = planner.build(np.arange(8), step)
        return sequences(batch.entities, batch.negative_mask.shape[1]), batch.negative_mask.tolist()

    assert build(0, 3) == build(0, 3)
    assert build(0, 3) != build(0, 4)
    assert build(0, 3) != build(1, 3)


def test_no_mention_stands_for_itself(store):
    mentions = rows_of(store.mentions)
    assert len(mentions) == len(store.mentions), "the test's texts differ"
    planner = make_planner(store, card=0.0, mention=1.0)
    stood = 0
    for epoch in range(5):
        for step, examples in enumerate(planner.plan(epoch)):
            batch = planner.build(examples, step + 100 * epoch)
            read = sequences(batch.entities, len(batch))
            for i, (tower, tokens) in enumerate(read):
                if tower == "mention":
                    other = mentions[tokens]
                    assert other != examples[i]
                    assert store.mention_entity[other] == store.mention_entity[examples[i]]
                    stood += 1
                else:  # the only mention of its entity, or drawn to be itself
                    assert tokens == tuple(store.cards[store.mention_entity[examples[i]]].tolist())
    assert stood > 50


def test_no_bare_name_stands_for_itself(store):
    names, n_mentions = rows_of(store.names), len(store.mentions)
    planner = make_planner(store, card=0.0, name=1.0)
    examples = n_mentions + np.arange(len(store.names))
    stood = 0
    for step in range(5):
        batch = planner.build(examples, step)
        anchors = sequences(batch.anchors, len(batch))
        for i, (tower, tokens) in enumerate(sequences(batch.entities, len(batch))):
            assert tower == "entity" and anchors[i] == ("mention", tuple(store.bare_names[i].tolist()))
            if tokens in names:
                assert names[tokens] != i
                assert store.name_entity[names[tokens]] == store.name_entity[i]
                stood += 1
    assert stood > 50


# -- the examples -----------------------------------------------------------------------------


def test_what_cannot_be_learnt_is_left_out_and_counted(encoder, caplog):
    text = "fever and fever and fever and fever"
    mentions = [
        Mention(0, 5, "", ("C2",)),
        Mention(10, 15),
        Mention(20, 25, "", ("C2", "C3"), composite=True),
        Mention(30, 35, "", ("X1",)),
    ]
    kb = KnowledgeBase(ENTITIES)
    with caplog.at_level(logging.INFO, "spacy_pel"):
        store = build_examples(kb, [Document("d", text, mentions)], encoder)
    assert store.mention_entity.tolist() == [2]
    assert "left out: 1 NIL, 1 composite, 1 not in the KB" in caplog.text
    with pytest.raises(PelError, match="not in the KB"):
        build_examples(kb, [Document("d", text, mentions[1:])], encoder)
    assert "PEL-W103" not in caplog.text, "half of them"
    build_examples(kb, [Document("d", text, [*mentions, Mention(10, 15, "", ("X2",))])], encoder)
    assert "lacks the ids of 2 of 3 annotated mentions, e.g. 'X1'" in caplog.text


def test_retired_entities_are_no_examples(encoder):
    kb = KnowledgeBase(ENTITIES)
    kb.retire(["C0", "C3"], {"C3": "C5"})
    documents = [document(0, [NAMES[3], NAMES[5], NAMES[2]]), Document("d", NAMES[0], [Mention(0, 5, "", ("C0",))])]
    store = build_examples(kb, documents, encoder)
    assert store.n_entities == len(ENTITIES) - 2
    ids = [kb.id_at(int(kb.live_rows[position])) for position in store.mention_entity]
    assert ids == ["C5", "C5", "C2"]


def test_limit_and_names(encoder):
    kb = KnowledgeBase(ENTITIES)
    store = build_examples(kb, make_documents(), encoder, limit=7, with_names=False)
    assert len(store.mentions) == len(store.mention_gold) == len(store.mention_entity) == 7
    assert len(store.names) == len(store.bare_names) == 0
    assert sum(map(len, make_planner(store, name=1.0, alias_share=0.5).plan(0))) == 7
    batch = make_planner(store, name=1.0).build(np.arange(7), 0)  # no names: cards
    assert {tower for tower, _ in sequences(batch.entities, 7)} == {"entity"}

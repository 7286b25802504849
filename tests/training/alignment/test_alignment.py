"""Aligning on names: pairs, what is no negative, what is held out, learning, resuming, errors."""

from pathlib import Path

import numpy as np
import pytest

from spacy_pel.encoders import load_encoder
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.alignment.batches import SynonymPlanner
from spacy_pel.training.alignment.dev import HeldOutNames
from spacy_pel.training.alignment.loop import AlignTrainer
from spacy_pel.training.alignment.noise import noisy
from spacy_pel.training.alignment.settings import AlignDevSettings, NoiseSettings, read_align_settings
from spacy_pel.training.alignment.synonyms import Synonyms
from spacy_pel.types import Entity, MentionInText
from spacy_pel.util import normalize_alias

from ..conftest import ENTITIES, NAMES, differing, metrics

pytestmark = pytest.mark.slow

CONFIG = Path(__file__).parents[3] / "configs" / "align_tiny.cfg"
QUIET = NoiseSettings(typo=0, inflection=0, initials=0, inversion=0, hyphen=0)
OTHER = [
    Entity("D1", "Grippe", ("the flu", "INFLUENZA!")),
    Entity("D2", "pertussis", ("whooping cough", "Pertussis")),
    Entity("D3", "no synonym"),
]


@pytest.fixture(scope="module")
def kbs(tmp_path_factory):
    path = tmp_path_factory.mktemp("kbs")
    KnowledgeBase.build(ENTITIES, path / "one")
    KnowledgeBase.build(OTHER, path / "other")
    return {"one": path / "one", "other": path / "other"}


@pytest.fixture(scope="module")
def align(kbs):
    def run(output, resume=False, **changes):
        overrides = {"paths.kbs": {name: str(path) for name, path in kbs.items()}}
        overrides.update({name.replace("__", "."): value for name, value in changes.items()})
        settings = read_align_settings(CONFIG, overrides)
        return AlignTrainer(settings, output, show_progress=False).run(resume=resume)

    return run


@pytest.fixture(scope="module")
def synonyms(kbs):
    return Synonyms.of({name: KnowledgeBase.from_disk(path) for name, path in kbs.items()})


def planner(synonyms, *, held_out=(), batch_size=8, seed=0, noise=QUIET, marked=0.5):
    settings = read_align_settings(CONFIG)
    settings.pel.encoder.initialize()
    return SynonymPlanner(
        synonyms,
        settings.pel.encoder,
        held_out=np.array(held_out, dtype=np.int64),
        marked=marked,
        noise=noise,
        batch_size=batch_size,
        seed=seed,
    )


def test_names_with_one_normal_form_are_one_name(synonyms):
    names = [[synonyms.texts[n] for n in synonyms.names_of[e]] for e in range(synonyms.n_entities)]
    assert names[: len(ENTITIES)] == [[e.canonical_name, *e.aliases] for e in ENTITIES]
    assert names[len(ENTITIES) :] == [
        ["Grippe", "the flu", "INFLUENZA!"],
        ["pertussis", "whooping cough"],
        ["no synonym"],
    ]
    assert synonyms.kb.tolist() == [0] * len(ENTITIES) + [1] * 3
    assert [synonyms.owner[n] for n in synonyms.names_of[18]] == [18] * len(synonyms.names_of[18])


def test_entities_that_share_a_name_are_related_across_knowledge_bases(synonyms):
    influenza, grippe, fever = NAMES.index("influenza"), len(ENTITIES), NAMES.index("fever")
    related = synonyms.related(np.array([influenza, grippe, fever, fever]))
    assert related.tolist() == [
        [True, True, False, False],
        [True, True, False, False],
        [False, False, True, True],
        [False, False, True, True],
    ]


def test_names_that_meet_in_a_third_entity_are_related():
    found = Synonyms.of(
        {
            "a": KnowledgeBase([Entity("1", "flu", ("influenza a",))]),
            "b": KnowledgeBase([Entity("1", "grippe", ("la grippe",))]),
            "c": KnowledgeBase([Entity("1", "Flu", ("Grippe",)), Entity("2", "gout", ("podagra",))]),
        }
    )
    assert found.related(np.array([0, 1])).all()
    assert not found.related(np.array([0, 3]))[0, 1]


def test_pairs_are_two_names_of_one_entity(synonyms):
    plan = planner(synonyms)
    pairs = np.concatenate(plan.plan(0))
    assert len(pairs) == len(plan.entities) == len(ENTITIES) + 2, "an entity without synonyms has no pair"
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert (synonyms.owner[pairs[:, 0]] == synonyms.owner[pairs[:, 1]]).all()
    # both orders and all names are drawn in time
    drawn = {tuple(pair) for epoch in range(60) for batch in plan.plan(epoch) for pair in batch.tolist()}
    first = synonyms.names_of[0].tolist()
    assert {(a, b) for a in first for b in first if a != b} <= drawn


def test_large_knowledge_bases_do_not_drown_small_ones(synonyms):
    plan = planner(synonyms)
    assert plan.shares == pytest.approx(np.array([4.0, np.sqrt(2)]) / (4 + np.sqrt(2)))
    pairs = np.concatenate([batch for epoch in range(100) for batch in plan.plan(epoch)])
    from_small = (synonyms.kb[synonyms.owner[pairs[:, 0]]] == 1).mean()
    assert from_small == pytest.approx(plan.shares[1], abs=0.04)


def test_a_batch(synonyms):
    plan = planner(synonyms, batch_size=18)
    influenza, grippe, fever = NAMES.index("influenza"), len(ENTITIES), NAMES.index("fever")
    pairs = np.array([synonyms.names_of[e][:2] for e in (influenza, grippe, fever)])
    batch = plan.build(pairs, 0)
    assert batch.negative_mask.tolist() == [[False, False, True], [False, False, True], [True, True, False]]
    assert sorted(place for side in batch.anchors for place in side.places) == [0, 1, 2]
    assert {side.tower for side in planner(synonyms, marked=1.0).build(pairs, 0).anchors} == {"mention"}
    assert {side.tower for side in planner(synonyms, marked=0.0).build(pairs, 0).anchors} == {"entity"}
    encoder = plan.encoder
    second = [synonyms.texts[name] for name in pairs[:, 1]]
    ids, _ = encoder.entity_template.tokenize_names(encoder.tokenizer, second).padded(
        np.arange(3), encoder.tokenizer.pad_token_id
    )
    assert (batch.entities[0].ids == ids).all()


def test_nothing_held_out_is_trained_on(synonyms):
    dev = HeldOutNames(synonyms, ["one", "other"], AlignDevSettings(n_mentions=1, n_entities=100), seed=3)
    plan = planner(synonyms, held_out=dev.entities)
    assert not np.isin(plan.entities, dev.entities).any()
    searched = {normalize_alias(name) for world in dev.worlds for name in world.searched}
    trained = {
        normalize_alias(synonyms.texts[name])
        for batch in plan.plan(0)
        for name in synonyms.names_of.take(synonyms.owner[batch[:, 0]]).values
    }
    assert len(searched) == 2 and not searched & trained
    for world in dev.worlds:
        assert not set(world.searched) & set(world.names), "a name cannot find itself"


def test_the_ranks_of_held_out_names(synonyms):
    class ByLetters:
        """How often each letter occurs is a name's vector."""

        def encode_mentions(self, mentions):
            return self.encode_names([text for text, _, _ in mentions])

        def encode_names(self, names):
            counts = np.array([[name.lower().count(chr(97 + i)) for i in range(26)] for name in names], float)
            return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    settings = AlignDevSettings(n_mentions=16, n_entities=9, recall_at=[1, 3])
    dev, encoder, expected = HeldOutNames(synonyms, ["one", "other"], settings, 0), ByLetters(), {}
    for world, base in zip(dev.worlds, ([*ENTITIES], OTHER), strict=True):
        nearest = []
        for searched in world.searched:
            query = encoder.encode_names([searched])[0]
            best = {}  # of each entity, by its names but the searched one
            for entity in base:
                names = [n for n in (entity.canonical_name, *entity.aliases) if n in world.names]
                best[entity.concept_id] = max(encoder.encode_names(names) @ query)
            own = next(e.concept_id for e in base if searched in (e.canonical_name, *e.aliases))
            nearest.append(sum(score >= best[own] for score in best.values()))
        for k in (1, 3):
            expected[f"recall@{k} {world.name}"] = 100 * np.mean([rank <= k for rank in nearest])
    for k in (1, 3):
        expected[f"recall@{k}"] = (expected[f"recall@{k} one"] + expected[f"recall@{k} other"]) / 2
    assert dev(encoder) == pytest.approx(expected)
    assert 0 < expected["recall@1"] < 100, "some are found, some are not"


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("inflection", "lung neoplasms", {"lung neoplasm"}),
        ("inflection", "lung neoplasm", {"lung neoplasms"}),
        ("inflection", "abscess", {"abscesss", "abscess"}),
        ("initials", "acute respiratory distress syndrome", {"ARDS"}),
        ("initials", "heart attack", {"heart attack"}),
        ("inversion", "Neoplasms, Lung", {"Lung Neoplasms"}),
        ("hyphen", "non-small-cell", {"non small cell"}),
        ("hyphen", "-", {"-"}),
        ("typo", "fever", {"fever"}),
    ],
)
def test_noise(kind, name, expected):
    settings = QUIET.model_copy(update={kind: 1.0})
    assert {noisy(name, settings, np.random.default_rng(seed)) for seed in range(20)} <= expected


def test_a_typing_error_is_one_edit():
    settings = QUIET.model_copy(update={"typo": 1.0})
    found = {noisy("influenza", settings, np.random.default_rng(seed)) for seed in range(200)}
    assert {len(name) for name in found} == {8, 9, 10}
    assert all(name[0] == "i" for name in found), "the first letter stays"
    assert noisy("influenza", QUIET, np.random.default_rng(0)) == "influenza"


def test_it_learns_to_find_held_out_names(align, tmp_path):
    best = align(tmp_path / "run", pel__training__max_steps=150, pel__training__eval_frequency=50)
    log = metrics(tmp_path / "run")
    assert log[-1]["loss"] < log[0]["loss"]
    assert best["recall@1"] >= log[0]["recall@1"]
    assert {"recall@1 one", "recall@5 other", "similarity+"} <= set(best)
    encoder = load_encoder(tmp_path / "run" / "model-best")
    queries = encoder.encode_mentions([MentionInText(f"acute {name}", 0, 6 + len(name)) for name in NAMES])
    nearest = (queries @ encoder.encode_names(NAMES).T).argmax(axis=1)
    assert (nearest == np.arange(len(NAMES))).mean() > 0.8


def test_an_interrupted_alignment_gives_the_same_bytes(align, tmp_path):
    short = {"pel__training__eval_frequency": 4}
    align(tmp_path / "whole", pel__training__max_steps=8, **short)
    trainer = pytest.MonkeyPatch()
    with trainer.context() as patch:
        calls = []
        save = AlignTrainer._save

        def stop(self, *args):
            save(self, *args)
            calls.append(1)
            raise KeyboardInterrupt

        patch.setattr(AlignTrainer, "_save", stop)
        with pytest.raises(KeyboardInterrupt):
            align(tmp_path / "cut", pel__training__max_steps=8, **short)
    assert calls == [1]
    align(tmp_path / "cut", resume=True, pel__training__max_steps=8, **short)
    assert differing(tmp_path / "whole", tmp_path / "cut") == []


def test_another_alignments_checkpoint_is_refused(align, tmp_path):
    align(tmp_path / "run", pel__training__max_steps=2)
    with pytest.raises(PelError, match="E314"):
        align(tmp_path / "run", pel__training__max_steps=2)
    for change in ({"pel__marked": 0.1}, {"pel__noise__typo": 0.5}, {"pel__loss__beta": 3.0}):
        with pytest.raises(PelError, match="E312"):
            align(tmp_path / "run", resume=True, **change)


def test_errors_say_what_to_do(align, tmp_path):
    with pytest.raises(PelError, match="E319.*n_mentions"):
        align(tmp_path / "a", pel__training__dev__n_mentions=100)
    with pytest.raises(PelError, match="E315.*recall@1"):
        align(tmp_path / "b", pel__training__dev__metric="mrr")
    with pytest.raises(PelError, match="E349.*noise.typos"):
        align(tmp_path / "c", pel__noise__typos=0.5)
    with pytest.raises(PelError, match="E349.*noise.*add up to 1 at most, got 1.2"):
        align(tmp_path / "e", pel__noise__typo=0.6, pel__noise__initials=0.44)
    with pytest.raises(PelError, match="E349.*kbs"):
        read_align_settings(CONFIG, {"paths.kbs": {}})
    with pytest.raises(PelError, match="E349.*limit"):
        align(tmp_path / "d", pel__training__limit=5)


def test_a_model_that_has_diverged_finds_nothing(synonyms):
    class Diverged:
        def encode_mentions(self, mentions):
            return np.full((len(mentions), 4), np.nan)

        def encode_names(self, names):
            return np.ones((len(names), 4))

    dev = HeldOutNames(synonyms, ["one", "other"], AlignDevSettings(n_mentions=2, recall_at=[1]), 0)
    assert set(dev(Diverged()).values()) == {0.0}

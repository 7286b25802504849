"""Training a dual encoder: whole groups, the hardest negative, the same each time, killed or not."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from spacy_pel_studies.triplets.anchors import AllMentions, MeanPrototype, OneMention, SoftRadius
from spacy_pel_studies.triplets.encoder import Euclidean, SynonymCard
from spacy_pel_studies.triplets.loss import Triplet
from spacy_pel_studies.triplets.training import GroupObjective, GroupPlanner, GroupRecipe, GroupStore
from training.conftest import check_resuming, metrics, set_dropout
from training.ranker.conftest import CUES, NAMES, accuracies, linker_of, retriever, train_ranker

from spacy_pel.corpora import write_corpus
from spacy_pel.errors import PelError
from spacy_pel.evaluation.predict import gold_queries
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.training.optimizer import make_optimizer, set_learn_rate
from spacy_pel.training.ranker.candidates import RankMentions, find_best
from spacy_pel.training.ranker.loop import RankTrainer
from spacy_pel.training.ranker.settings import RankerSettings
from spacy_pel.training.settings import OptimizerSettings
from spacy_pel.types import Document, Entity, Mention

from .conftest import make_dual

pytestmark = pytest.mark.slow

__all__ = ["check_resuming", "retriever"]
CONFIGS = Path(__file__).parents[3] / "configs"
CONFIG = CONFIGS / "triplet_tiny.cfg"
ANCHORS = sorted(registry.parts("pel_anchors").values())
SMALL = {
    "ranker.training.max_steps": 4,
    "ranker.training.eval_frequency": 2,
    "ranker.training.batch_size": 8,
    "ranker.model.top_k": 2,
    "ranker.candidates.n": 2,
}


def make_ranker():
    return make_dual(similarity=Euclidean(), card=SynonymCard)


def make_documents(n, first=0):
    """Each names one concept one to three times, and another one once; the word before tells the sense."""
    documents = []
    for i in range(first, first + n):
        text, mentions = f"{i} ", []
        for k, number in enumerate([i] * (1 + i % 3) + [i + 1]):
            name, sense = NAMES[number % 4], number // 4 % 2
            text += f"{CUES[sense]} {name} "
            ids = (f"{name}-{sense}",)
            mentions.append(Mention(len(text) - len(name) - 1, len(text) - 1, "", ids))
            text += "so " * (k % 2)
        documents.append(Document(f"d{i}", text, mentions))
    return documents


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    path = tmp_path_factory.mktemp("groups")
    write_corpus(path / "train.jsonl", make_documents(24))
    write_corpus(path / "dev.jsonl", make_documents(8, first=100))
    return {"paths.train": str(path / "train.jsonl"), "paths.dev": str(path / "dev.jsonl")}


@pytest.fixture
def train(paths, retriever):
    """A function that trains configs/triplet_tiny.cfg, smaller, with some settings changed."""
    return partial(train_ranker, CONFIG, {**paths, **SMALL}, retriever)


# -- the whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize("anchors", ANCHORS)
def test_it_learns_what_the_retriever_cannot_tell(train, retriever, tmp_path, anchors):
    best = train(
        tmp_path / "out",
        ranker__anchors={"@pel_anchors": anchors},
        ranker__loss__margin=5.0,
        ranker__training__max_steps=100,
        ranker__training__max_epochs=60,
        ranker__training__batch_size=16,
        ranker__training__eval_frequency=50,
        ranker__training__optimizer={"learn_rate": 0.005, "warmup": 0.1},
    )
    assert best["retriever_accuracy"] < 0.6 and best["retriever_recall"] == 1.0
    assert best["accuracy"] >= 0.9 and ("radius" in best) is ("SoftRadius" in anchors)
    before, after = accuracies(retriever, tmp_path / "out" / "model-best", make_documents(8, first=200))
    assert before < 0.6 and after > 0.85


def test_stopped_and_resumed(train, check_resuming):
    settings = {
        "ranker__training__accumulate_gradient": 2,
        "ranker__training__mixed_precision": "bf16",
        "ranker__candidates__hide_names": 0.5,
    }
    whole = check_resuming(3, RankTrainer, **settings)
    radii = [record["radius"] for record in metrics(whole)]
    assert radii[0] > 0 and radii[0] != radii[1]
    for change in ({"ranker__anchors__epsilon": 0.75}, {"ranker__loss__margin": 0.5}):
        with pytest.raises(PelError, match="PEL-E312"):
            train(whole, resume=True, **settings, **change)


def test_what_does_not_go_together_says_why(train, tmp_path):
    fgsm = {"@pel_regularizers": "spacy-pel.FGSM.v1"}
    with pytest.raises(PelError, match="PEL-E348.*DualEncoder.*regularizer.*perturbed"):
        train(tmp_path / "out", ranker__regularizer=fgsm)
    cross = {"@pel_rankers": "spacy-pel.CrossEncoder.v1", "name": "random:"}
    with pytest.raises(PelError, match="PEL-E348.*CrossEncoder.*loss"):
        train(tmp_path / "out", ranker__model=cross, ranker__model__top_k=16)
    with pytest.raises(PelError, match="PEL-E332.*Triplet"):
        train(tmp_path / "out", ranker__anchors={"@pel_losses": "spacy-pel.Triplet.v1"})
    assert not (tmp_path / "out").exists()


# -- groups and batches --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mentions(retriever):
    return RankMentions.read(retriever, make_documents(12), gold_queries, limit=0, seed=0)


@pytest.fixture
def store(retriever, mentions):
    return GroupStore(retriever.kb, mentions, find_best(retriever, mentions.queries, 2), encoder=make_ranker().encoder)


def test_a_group_is_an_entity_in_a_document(store, mentions, retriever):
    expected = {}
    for i, (document, gold) in enumerate(zip(mentions.document, mentions.gold, strict=True)):
        expected.setdefault((document, gold[0]), []).append(i)
    found = [store.groups[number].tolist() for number in range(len(store.groups))]
    assert sorted(found) == sorted(expected.values()) and max(map(len, found)) == 3
    names = retriever.kb.ids_at(np.arange(8))
    tokenizer = make_ranker().encoder.tokenizer

    def text(place):
        return "".join(tokenizer.decode(store.entities[place]).split())

    for number, members in enumerate(found):
        name, sense = names[mentions.gold[members[0]][0]].split("-")
        assert text(store.positives[number]) == f"[CLS]{CUES[int(sense)]}[SEP]{name}[SEP]"
        # the retriever's two candidates are both senses: the wrong one is left
        assert [text(p) for p in store.negatives[number]] == [f"[CLS]{CUES[1 - int(sense)]}[SEP]{name}[SEP]"]


@pytest.mark.parametrize("batch_size", [1, 4, 7, 100])
@pytest.mark.parametrize("name", ANCHORS)
def test_a_batch_has_as_many_anchors_as_its_size_says(retriever, mentions, name, batch_size):
    """Groups where each has one anchor (32 a batch in the paper), mentions where each is one."""
    anchors = registry.pel_anchors.get(name)()
    training = {"batch_size": batch_size}
    recipe = GroupRecipe(make_ranker(), RankerSettings(model=None, anchors=anchors, training=training))
    planner = recipe.planner(retriever.kb, mentions, find_best(retriever, mentions.queries, 2), 3)
    n_groups = len(planner.store.groups)
    for epoch in range(2):
        plan = planner.plan(epoch)
        assert sorted(np.concatenate([one.groups for one in plan])) == list(range(n_groups))
        n_anchors = []
        for one in plan:
            groups = torch.from_numpy(planner.build(one).groups)
            assert len(groups) == sum(len(planner.store.groups[group]) for group in one.groups)
            generator = torch.Generator().manual_seed(one.seed)
            chosen = anchors.select(groups, generator)
            made = anchors(torch.randn(len(chosen), 4), groups[chosen], generator)
            n_anchors.append(len(made.groups))
        if name == "spacy-pel.AllMentions.v1":
            assert sum(n_anchors) == len(mentions)
            largest = [max(len(planner.store.groups[g]) for g in one.groups) for one in plan]
            assert all(n <= max(batch_size, most) for n, most in zip(n_anchors, largest, strict=True))
        else:
            assert len(plan) == planner.batches_per_epoch == -(-n_groups // batch_size)
            assert set(n_anchors[:-1]) <= {batch_size}
            assert n_anchors[-1] == n_groups - batch_size * (len(plan) - 1)
    again = recipe.planner(retriever.kb, mentions, find_best(retriever, mentions.queries, 2), 3).plan(1)
    assert [(one.groups.tolist(), one.seed) for one in again] == [(one.groups.tolist(), one.seed) for one in plan]


def test_hidden_surfaces_of_a_whole_group():
    """The surface forms of all mentions of a group are left out of its entities, positive and negatives, but
    a last name stays."""
    names = {"A": ("cold", "coryza", "sniffles"), "B": ("cold", "chill"), "C": ("sniffles",)}
    kb = KnowledgeBase([Entity(key, name, aliases) for key, (name, *aliases) in names.items()])
    text = "cold and coryza, then sniffles"
    spans = [(0, 4, "A"), (9, 15, "A"), (22, 30, "C")]
    documents = [Document("d", text, [Mention(start, end, "", (key,)) for start, end, key in spans])]
    linker = linker_of(kb)
    mentions = RankMentions.read(linker, documents, gold_queries, limit=0, seed=0)
    candidates = find_best(linker, mentions.queries, 3)
    encoder = make_ranker().encoder
    hidden, plain = (GroupStore(kb, mentions, candidates, encoder=encoder, hidden_share=share) for share in (1.0, 0.0))

    def names_of(store, place):
        text = encoder.tokenizer.decode(store.entities[place]).replace(" ", "").removeprefix("[CLS]")
        return [name for name in text.split("[SEP]") if name]

    def read(store):
        return {
            tuple(spans[member][2] for member in store.groups[number]): (
                names_of(store, store.positives[number]),
                sorted(names_of(store, place) for place in store.negatives[number]),
            )
            for number in range(len(store.groups))
        }

    assert read(plain)[("A", "A")] == (["cold", "coryza", "sniffles"], [["cold", "chill"], ["sniffles"]])
    assert read(hidden)[("A", "A")] == (["sniffles"], [["chill"], ["sniffles"]])
    assert read(hidden)[("C",)] == (["sniffles"], [["cold", "chill"], ["cold", "coryza"]])


# -- the objective -------------------------------------------------------------------------------


MARGIN = 0.5


@pytest.fixture
def made(store):
    """A dual encoder without dropout, and a batch with more than one negative for each group."""
    planner = GroupPlanner(store, batch_size=12, pad_id=0, seed=0)
    batch = planner.build(planner.plan(0)[0])
    batch.negatives[:] = True
    batch.negatives[np.arange(len(batch.positives)), batch.positives] = False
    batch.negatives[0] = False  # one has none
    ranker = make_ranker()
    set_dropout(ranker.encoder.towers, 0.0)
    return ranker, batch


def objective_of(ranker, anchors, loss=None, at_once=None):
    made = GroupObjective(
        ranker.encoder.towers,
        loss or Triplet(margin=MARGIN),
        similarity=ranker.encoder.similarity,
        anchors=anchors,
        at_once=at_once,
    )
    return made.train()


def slow_loss(ranker, batch, anchors, margin, *, squared):
    """Eq. 2 (squared norms, of mentions) and Eq. 3 (norms, of prototypes) of Le & Nguyen (2023) in float64,
    from the towers' vectors: the mean over all (anchor, group) pairs."""
    entities = vectors_of("entity", ranker, batch)
    losses = []
    for anchor, group in anchors:
        sums = [float(((anchor - e) ** 2).sum()) for e in entities]
        norms = sums if squared else np.sqrt(sums).tolist()
        wrong = [norms[j] for j in np.flatnonzero(batch.negatives[group])]
        own = norms[batch.positives[group]]
        losses.append(max(0.0, own - min(wrong) + margin) if wrong else 0.0)
    return float(np.mean(losses))


def vectors_of(side, ranker, batch):
    inputs = (getattr(batch, f"{side}_{name}") for name in ("ids", "mask"))
    with torch.no_grad():
        return ranker.encoder.towers[side](*map(torch.from_numpy, inputs)).double().numpy()


def test_triplet_with_all_samples_and_with_prototypes(made):
    ranker, batch = made
    vectors = vectors_of("mention", ranker, batch)
    n_groups = len(batch.positives)
    every = list(zip(vectors, batch.groups, strict=True))
    triplet, prototype = Triplet(margin=MARGIN, squared=True), Triplet(margin=MARGIN, squared=False)
    loss, metrics = objective_of(ranker, AllMentions(), triplet)(batch)
    expected = slow_loss(ranker, batch, every, MARGIN, squared=True)
    assert loss.item() == pytest.approx(expected, rel=1e-5) and 0 < metrics["active"] < 1
    groups = torch.from_numpy(batch.groups)
    drawn = OneMention().select(groups, torch.Generator().manual_seed(batch.seed))
    assert len(drawn) == n_groups < len(every)
    loss, _ = objective_of(ranker, OneMention(), triplet)(batch)
    expected = slow_loss(ranker, batch, [every[i] for i in drawn.tolist()], MARGIN, squared=True)
    assert loss.item() == pytest.approx(expected, rel=1e-5)
    means = [(vectors[batch.groups == g].mean(axis=0), g) for g in range(n_groups)]
    loss, metrics = objective_of(ranker, MeanPrototype(), prototype)(batch)
    expected = slow_loss(ranker, batch, means, MARGIN, squared=False)
    assert loss.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_gradients_are_those_of_encoding_everything(made, precision):
    """Only positive and hardest are encoded with a gradient; it must not be lost or changed."""
    ranker, batch = made

    class EncodesAll(Triplet):
        hardest_only = False

    gradients = {}
    for loss in (Triplet(margin=MARGIN), EncodesAll(margin=MARGIN)):
        ranker.encoder.towers.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            value, _ = objective_of(ranker, MeanPrototype(), loss)(batch)
        value.backward()
        gradients[type(loss).__name__] = {
            name: p.grad.clone() for name, p in ranker.encoder.towers.named_parameters() if p.grad is not None
        }
    fast, slow = gradients["Triplet"], gradients["EncodesAll"]
    assert fast.keys() == slow.keys() and any(name.startswith("entity.") for name in fast)
    for name in slow:
        bound = 0.1 if precision == "bf16" else 1e-4
        difference = (fast[name] - slow[name]).norm() / slow[name].norm().clamp(min=1e-3)
        assert difference < bound, name
    entity = [g.abs().max() for name, g in fast.items() if name.startswith("entity.") and "weight" in name]
    assert all(value > 0 for value in entity), "a cast without a gradient was used again"


# -- memory --------------------------------------------------------------------------------------


@pytest.fixture
def large(retriever):
    """A function that makes a batch of one group with n mentions, and one of a single mention."""

    def build(n):
        text = "".join(f"xxxx cold {i % 7} " for i in range(n)) + "qqqq gout"
        spans = [Mention(12 * i + 5, 12 * i + 9, "", ("cold-0",)) for i in range(n)]
        spans.append(Mention(len(text) - 4, len(text), "", ("gout-1",)))
        mentions = RankMentions.read(retriever, [Document("d", text, spans)], gold_queries, limit=0, seed=0)
        store = GroupStore(
            retriever.kb, mentions, find_best(retriever, mentions.queries, 2), encoder=make_ranker().encoder
        )
        planner = GroupPlanner(store, batch_size=2, count_groups=True, pad_id=0, seed=0)
        (plan,) = planner.plan(0)
        batch = planner.build(plan)
        assert sorted(np.bincount(batch.groups)) == [1, n]
        return batch

    return build


@pytest.mark.parametrize("precision", ["no", "bf16"])
@pytest.mark.parametrize("dropout", [False, True])
def test_pieces_have_the_gradients_of_the_whole(large, monkeypatch, precision, dropout):
    ranker, batch = make_ranker(), large(60)
    if not dropout:
        set_dropout(ranker.encoder.towers, 0.0)
    objective = objective_of(ranker, MeanPrototype(), Triplet(margin=50.0), at_once=8)

    def gradients():
        torch.manual_seed(5)
        objective.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            loss, _ = objective(batch)
        loss.backward()
        return {name: p.grad.clone() for name, p in objective.named_parameters() if p.grad is not None}

    pieces = gradients()
    if dropout:  # the same pieces, kept instead of encoded again
        monkeypatch.setattr(
            "spacy_pel_studies.triplets.training.checkpoint", lambda tower, *inputs, use_reentrant: tower(*inputs)
        )
    else:
        objective.at_once = None
    whole = gradients()
    assert pieces.keys() == whole.keys() and any(name.startswith("towers.mention") for name in pieces)
    largest = {side: max(whole[n].norm() for n in whole if side in n) for side in ("mention", "entity")}
    assert all(value > 0 for value in largest.values())
    bound = 1e-4 if precision == "no" else 0.05
    for name in whole:
        side = "mention" if "mention" in name else "entity"
        assert (pieces[name] - whole[name]).norm() < bound * largest[side], name


@pytest.mark.parametrize("schedule", [True, False])
def test_lambda_has_a_rate_of_its_own_that_may_be_constant(schedule):
    anchors = SoftRadius(learn_rate=0.25, schedule=schedule)
    objective = objective_of(make_ranker(), anchors)
    optimizer = make_optimizer(objective, OptimizerSettings(learn_rate=1.0), [(anchors, anchors.learn_rate)])
    rates = []
    for step in range(10):
        set_learn_rate(optimizer, step, 10, 0.4)
        rates.append([group["lr"] for group in optimizer.param_groups])
    towers, own = [row[0] for row in rates], [row[2] for row in rates]
    assert towers == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])
    assert [row[1] for row in rates] == towers
    assert optimizer.param_groups[2]["params"] == [anchors.radius]
    assert optimizer.param_groups[2]["weight_decay"] == 0.0
    assert own == (pytest.approx([rate / 4 for rate in towers]) if schedule else [0.25] * 10)

"""Training on rows: what is hidden, the search, the loss against a loop over rows, and whole trainings."""

import numpy as np
import pytest
import torch

from spacy_pel.corpora.preprocessing.sentence_windows import SentenceWindows
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.losses.cross_entropy import CrossEntropy
from spacy_pel.training.losses.proxy_softplus import ProxySoftplus
from spacy_pel.training.negatives.in_batch_negatives import InBatchNegatives
from spacy_pel.training.retriever import loop
from spacy_pel.training.retriever.examples import build_examples
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.rows import memory as memory_module
from spacy_pel.training.retriever.rows.batches import RowPlanner
from spacy_pel.training.retriever.rows.memory import RowMemory
from spacy_pel.training.retriever.rows.objective import RowObjective
from spacy_pel.training.retriever.settings import RowSettings, ViewSettings, read_settings
from spacy_pel.types import Document, Mention
from spacy_pel.util.ragged import Ragged, offsets_of

from ..conftest import CONFIG, ENTITIES, NAMES, SMALL, document, make_documents, metrics, random_encoder
from .test_resume import Stopped, stops_before

NOTHING = np.zeros(0, dtype=np.int64)


@pytest.fixture(scope="module")
def encoder():
    return random_encoder(width=16, tied=True)


@pytest.fixture(scope="module")
def store(encoder):
    """The tiny corpus, and mentions with several entities, whose first surface form is a name of C0."""
    several = [document(90 + i, [NAMES[i]], ids=(f"C{i}", f"C{i + 1}", "C7")) for i in range(6)]
    return build_examples(KnowledgeBase(ENTITIES), [*make_documents(), *several], encoder)


def make_planner(store, **settings):
    return RowPlanner(
        store,
        rows=RowSettings(**settings),
        views=ViewSettings(alias_share=0.5),
        negatives=InBatchNegatives(),
        batch_size=16,
        pad_id=0,
        seed=0,
    )


def batches_of(planner):
    return [planner.build(examples, step) for step, examples in enumerate(planner.plan(0))]


def is_mention(planner, rows):
    return rows >= planner.rows.n_names


def test_the_parts_of_a_document_are_one(encoder):
    step, text = SentenceWindows(neighbours=0), f"A {NAMES[0]} here. A {NAMES[1]} there."
    at = [text.index(name) for name in NAMES[:2]]
    mentions = [Mention(at[i], at[i] + len(NAMES[i]), "", (f"C{i}",)) for i in range(2)]
    parts = [part for i in range(3) for part in step(Document(f"d{i}", text, mentions))]
    store = build_examples(KnowledgeBase(ENTITIES), parts, encoder)
    first, second = store.mention_document[::2], store.mention_document[1::2]
    assert len(parts) == 6 and first.tolist() == second.tolist() and len(set(first.tolist())) == 3


# -- what is hidden ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shares",
    [{"hide_form": 0, "hide_entity": 0}, {"hide_form": 1, "hide_entity": 0}, {"hide_form": 0, "hide_entity": 1}],
)
def test_hidden_rows(store, shares):
    planner = make_planner(store, **shares)
    table, n_names = planner.rows, planner.rows.n_names
    documents = np.concatenate([np.full(n_names, 0, np.uint64), store.mention_document])
    forms = np.concatenate([store.name_form, store.mention_form])
    rows = np.arange(len(table))
    seen = 0
    for batch in batches_of(planner):
        for number, row in enumerate(batch.rows.tolist()):
            mention = row >= n_names
            expected = (documents == documents[row]) & (rows >= n_names) if mention else rows == row
            if not mention or shares["hide_form"]:
                expected = expected | (forms == forms[row])
            elif shares["hide_entity"]:
                expected = expected | (np.isin(table.entity, batch.gold[number]) & (rows >= n_names))
            assert batch.hidden[number].tolist() == np.flatnonzero(expected).tolist()
            assert row in batch.hidden[number]
            seen += 1
    assert seen == len(np.concatenate(planner.plan(0)))


def test_shares_of_hidden_rows(store):
    planner = make_planner(store, hide_form=0.3, hide_entity=0.5)
    row = planner.rows.n_names  # a mention
    counts = {}
    for draw in np.linspace(0, 1, 100, endpoint=False):
        (hidden,) = planner._hidden(np.array([row]), [np.array([0])], np.array([draw]))
        counts[tuple(hidden)] = counts.get(tuple(hidden), 0) + 1
    assert sorted(counts.values()) == [20, 30, 50]


def test_right_rows_are_of_the_gold_entities_and_not_hidden(store):
    for batch in batches_of(make_planner(store, right=3)):
        table = make_planner(store).rows
        for number, right in enumerate(batch.right):
            drawn = right[right >= 0]
            assert len(set(drawn)) == len(drawn)
            assert np.isin(table.entity[drawn], batch.gold[number]).all()
            assert not np.isin(drawn, batch.hidden[number]).any()
            others = np.setdiff1d(np.flatnonzero(np.isin(table.entity, batch.gold[number])), batch.hidden[number])
            assert len(drawn) == min(3, len(others))


def test_names_of_the_anchors_are_read(store):
    planner = make_planner(store)
    for examples, batch in zip(planner.plan(0), batches_of(planner), strict=True):
        rows = batch.name_rows
        assert (np.diff(rows) > 0).all() and not is_mention(planner, rows).any()
        assert np.isin(batch.rows[~is_mention(planner, batch.rows)], rows).all()
        assert np.isin(store.entity_of(examples), planner.rows.entity[rows]).all()
        assert sum(len(side.places) for side in batch.names) == len(rows)


def test_forms_are_normal_forms(store, encoder):
    kb = KnowledgeBase(ENTITIES)
    text = "HEART-attack and heart attack"
    documents = [document(0, ["fever"])]
    documents[0].text = text
    documents[0].mentions = [
        type(documents[0].mentions[0])(start, end, "", ("C0",)) for start, end in ((0, 12), (17, 29))
    ]
    made = build_examples(kb, documents, encoder)
    assert made.mention_form[0] == made.mention_form[1] == made.name_form[0]
    assert made.mention_document[0] == made.mention_document[1]
    assert len(set(made.name_form.tolist())) == len(made.names)


# -- the search ----------------------------------------------------------------------------------------


def unit(n, width, seed):
    vectors = torch.randn(n, width, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(vectors, dim=1)


def ragged(parts):
    return Ragged(
        np.concatenate([NOTHING, *(np.array(part, dtype=np.int64) for part in parts)]),
        offsets_of(np.array([len(part) for part in parts])),
    )


@pytest.mark.parametrize("chunk", [7, 50, 1000])
def test_search_finds_the_nearest_that_are_not_hidden(monkeypatch, chunk):
    monkeypatch.setattr(memory_module, "_CHUNK", chunk)
    memory, queries = RowMemory(50, 8), unit(4, 8, 1)
    memory.put(np.arange(50), unit(50, 8, 0))
    hidden, everywhere = ragged([[49, 3, 5], [], [0], list(range(40))]), np.array([20, 6])
    rows, found = memory.nearest(queries, 6, hidden=hidden, everywhere=everywhere)
    scores = queries @ memory.vectors.float().T
    for number in range(4):
        allowed = np.setdiff1d(np.arange(50), np.concatenate([hidden[number], everywhere]))
        best = allowed[np.argsort(-scores[number, allowed].numpy())][:6]
        assert rows[number].tolist() == best.tolist()
    assert found.all()


def test_search_says_what_it_did_not_find():
    memory = RowMemory(5, 8)
    memory.put(np.arange(5), unit(5, 8, 0))
    rows, found = memory.nearest(unit(2, 8, 1), 9, hidden=ragged([[0, 1, 2], []]), everywhere=np.array([4]))
    assert rows.shape == (2, 5)
    assert found.sum(axis=1).tolist() == [1, 4]
    assert rows[0, 0] == 3


def test_memory_holds_names_then_mentions(store, encoder):
    memory = RowMemory(len(store.names) + len(store.mentions), encoder.width)
    memory.fill(encoder, store)
    names, mentions = (encoder.encode_tokens("entity", store.names), encoder.encode_tokens("mention", store.mentions))
    kept = memory.vectors.float().numpy()
    np.testing.assert_allclose(kept, np.concatenate([names, mentions]), atol=0.005)


# -- the loss ---------------------------------------------------------------------------------------------


def make_objective(encoder, planner, loss, **settings):
    memory = RowMemory(len(planner.rows), encoder.width)
    memory.fill(encoder, planner.store)
    return RowObjective(
        encoder.towers,
        loss,
        similarity=encoder.similarity,
        memory=memory,
        rows=planner.rows,
        settings=RowSettings(**settings),
    )


def by_hand(encoder, planner, objective, examples, batch, *, k, temperature):
    """One anchor and one row at a time."""
    store, n_names = planner.store, planner.rows.n_names
    anchors = encoder.encode_tokens("mention", store.anchors(examples)).astype(np.float64)
    fresh = dict(
        zip(batch.name_rows.tolist(), encoder.encode_tokens("entity", store.names.take(batch.name_rows)), strict=True)
    )
    kept = objective.memory.vectors.float().numpy().astype(np.float64)
    losses, shares = [], []
    # ``anchors`` gives mentions first
    order = np.concatenate([np.flatnonzero(batch.rows >= n_names), np.flatnonzero(batch.rows < n_names)])
    for vector, number in zip(anchors, order.tolist(), strict=True):
        allowed = np.setdiff1d(np.arange(len(kept)), np.concatenate([batch.hidden[number], batch.name_rows]))
        nearest = allowed[np.argsort(-(kept[allowed] @ vector))][:k].tolist()
        drawn = [row for row in batch.right[number].tolist() if row >= 0 and row not in fresh]
        compared = {row: vector @ kept[row] for row in dict.fromkeys(nearest + drawn)}
        compared.update({row: vector @ v for row, v in fresh.items() if row not in batch.hidden[number]})
        right = [s for row, s in compared.items() if planner.rows.entity[row] in batch.gold[number]]
        wrong = [s for row, s in compared.items() if planner.rows.entity[row] not in batch.gold[number]]
        if right:
            pooled = temperature * np.log(np.sum(np.exp(np.array(right) / temperature)))
            mask = torch.ones(1, len(wrong), dtype=torch.bool)
            losses.append(float(objective.loss(torch.tensor([pooled]), torch.tensor([wrong]), mask)))
            powers = np.exp(np.array(right + wrong) / temperature)
            shares.append(powers[: len(right)].sum() / powers.sum())
    return np.mean(losses), np.mean(shares)


@pytest.mark.parametrize("loss", [CrossEntropy(scale=20.0), ProxySoftplus(alpha=16.0, offset=0.5)])
@pytest.mark.parametrize("k", [5, 1000])
def test_loss_is_that_of_a_loop_over_rows(store, encoder, loss, k):
    planner = make_planner(store, right=2)
    objective = make_objective(encoder, planner, loss, nearest=k).eval()
    for step, examples in enumerate(planner.plan(0)[:4]):
        batch = planner.build(examples, step)
        value, measured = objective(batch)
        expected, share = by_hand(encoder, planner, objective, examples, batch, k=k, temperature=0.05)
        assert float(value.detach()) == pytest.approx(expected, rel=1e-3)
        assert measured["right"] == pytest.approx(share, rel=1e-3)


def test_cross_entropy_is_minus_log_of_the_share_of_right_rows(store, encoder):
    planner = make_planner(store, hide_form=0, hide_entity=0)
    objective = make_objective(encoder, planner, CrossEntropy(scale=20.0)).eval()
    one = make_planner(store)
    one.batch_size = 1
    for step, examples in enumerate(one.plan(0)[:20]):
        value, measured = objective(planner.build(examples, step))
        if measured["right"]:
            assert float(value.detach()) == pytest.approx(-np.log(measured["right"]), abs=1e-4)


def test_training_renews_what_was_read_and_nothing_else(store, encoder):
    planner = make_planner(store)
    objective = make_objective(encoder, planner, CrossEntropy(scale=20.0)).train()
    objective.memory.vectors.zero_()
    batch = planner.build(planner.plan(0)[0], 0)
    objective(batch)
    renewed = np.flatnonzero(objective.memory.vectors.float().norm(dim=1).numpy() > 0.5)
    expected = np.concatenate([batch.name_rows, batch.rows[is_mention(planner, batch.rows)]])
    assert renewed.tolist() == sorted(expected.tolist())
    objective.eval()
    objective.memory.vectors.zero_()
    objective(batch)
    assert not objective.memory.vectors.any()


def test_without_a_right_row_there_is_no_loss(store, encoder):
    planner = make_planner(store)
    objective = make_objective(encoder, planner, CrossEntropy())
    batch = planner.build(planner.plan(0)[0], 0)
    everything = np.arange(len(planner.rows))
    batch.hidden = ragged([everything] * len(batch))
    batch.right[:] = -1
    loss, measured = objective(batch)
    loss.backward()
    assert float(loss.detach()) == 0 and measured["right"] == 0
    assert all(p.grad is None or not p.grad.any() for p in objective.parameters())


# -- whole trainings ------------------------------------------------------------------------------------


CHANGES = {name: value for name, value in SMALL.items() if not name.startswith("pel.negatives")}


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """configs/tiny.cfg with rows in place of drawn negatives."""
    text = CONFIG.read_text()
    before, after = text.split("[pel.negatives]")
    after = after[after.index("[pel.positives]") :]
    rows = '[pel.negatives]\n@pel_negatives = "spacy-pel.InBatchNegatives.v1"\n\n[pel.rows]\nnearest = 20\n\n'
    path = tmp_path_factory.mktemp("config") / "rows.cfg"
    path.write_text(before + rows + after)
    return path


@pytest.fixture(scope="module")
def train(data, config):
    def run(output, resume=False, trainer=Trainer, **changes):
        changed = {name.replace("__", "."): value for name, value in changes.items()}
        settings = read_settings(config, {**data, **CHANGES, **changed})
        return trainer(settings, output, show_progress=False).run(resume=resume)

    return run


def weights(output):
    return (output / "model-last" / "mention" / "model.safetensors").read_bytes()


def test_it_learns_and_the_same_seed_gives_the_same_model(train, tmp_path):
    best = train(tmp_path / "one", pel__training__max_steps=40, pel__training__eval_frequency=5)
    train(tmp_path / "two", pel__training__max_steps=40, pel__training__eval_frequency=5)
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    assert metrics(tmp_path / "one")[-1]["recall@1"] == metrics(tmp_path / "two")[-1]["recall@1"]
    first, *_, last = metrics(tmp_path / "one")
    assert last["right"] > first["right"]
    assert best["recall@1"] > 50  # of 16 entities


def test_an_interrupted_training_resumes_exactly(train, tmp_path, monkeypatch):
    with pytest.raises(Stopped):
        train(tmp_path / "halves", trainer=stops_before(6))
    filled = []
    monkeypatch.setattr(loop.RowMemory, "fill", lambda *args, **kwargs: filled.append(1))
    train(tmp_path / "halves", resume=True)
    assert not filled  # the vectors are the checkpoint's
    monkeypatch.undo()
    train(tmp_path / "whole")
    assert weights(tmp_path / "halves") == weights(tmp_path / "whole")


def test_a_checkpoint_of_other_rows_is_refused(train, tmp_path):
    train(tmp_path / "one")
    (tmp_path / "one" / "model-last").rename(tmp_path / "moved")
    with pytest.raises(PelError, match="PEL-E312"):
        train(tmp_path / "one", resume=True, pel__rows__hide_form=0.1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pel__mixing": {"@pel_mixing": "spacy-pel.AdaptiveMixup.v1"}}, r"\[pel\.mixing\]"),
        ({"pel__regularizer": {"@pel_regularizers": "spacy-pel.FGSM.v1"}}, r"\[pel\.regularizer\]"),
        ({"pel__encoder__similarity": {"@pel_similarities": "spacy-pel.Euclidean.v1"}}, "not the cosine"),
        ({"pel__negatives": {"@pel_negatives": "spacy-pel.RandomNegatives.v1"}}, "InBatchNegatives"),
    ],
)
def test_settings_without_a_meaning_are_refused(train, tmp_path, change, said):
    with pytest.raises(PelError, match=f"PEL-E355.*{said}"):
        train(tmp_path / "out", **change)
    assert not (tmp_path / "out").exists()


def test_several_processes_are_refused(train, tmp_path, monkeypatch):
    accelerator = loop.Trainer.__mro__[1].__init__.__globals__["make_accelerator"]

    def two(*args, **kwargs):
        made = accelerator(*args, **kwargs)
        monkeypatch.setattr(type(made), "num_processes", 2)
        return made

    monkeypatch.setitem(loop.Trainer.__mro__[1].__init__.__globals__, "make_accelerator", two)
    with pytest.raises(PelError, match="PEL-E355.*2 processes"):
        train(tmp_path / "out")


def test_shares_above_1_are_refused(train, tmp_path):
    with pytest.raises(PelError, match="PEL-E310.*hide_form \\+ hide_entity"):
        train(tmp_path / "out", pel__rows__hide_form=0.6, pel__rows__hide_entity=0.5)

"""The objective: what it computes against a loop over mentions in float64, with and without FGSM."""

import numpy as np
import pytest
import torch

from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.similarities import Cosine, DotProduct
from spacy_pel.training.losses.cross_entropy import CrossEntropy
from spacy_pel.training.losses.proxy_softplus import ProxySoftplus
from spacy_pel.training.regularizers import FGSM
from spacy_pel.training.retriever.batches import PairBatch, Side
from spacy_pel.training.retriever.objective import Objective, _signs, _slopes

from ..conftest import set_dropout

pytestmark = pytest.mark.slow

LOSSES = {"Pb": ProxySoftplus(alpha=8.0), "CE": CrossEntropy()}
# of 3 mentions and 6 entities: whose negatives are the 3 further ones, and the others' positives?
OTHERS = ~np.eye(3, dtype=bool)
MASKS = {
    "per mention": np.concatenate([np.zeros((3, 3), bool), np.eye(3, dtype=bool)], axis=1),
    "shared": np.concatenate([np.zeros((3, 3), bool), np.ones((3, 3), bool)], axis=1),
    "in batch": np.concatenate([OTHERS, np.ones((3, 3), bool)], axis=1),
    "in batch alone": np.concatenate([OTHERS, np.zeros((3, 3), bool)], axis=1),
    "several": np.concatenate([np.zeros((3, 3), bool), np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1]], bool)], axis=1),
    "one without": np.concatenate([np.zeros((3, 3), bool), np.eye(3, k=1, dtype=bool)], axis=1),
}
MENTIONS = [[5, 6, 7], [8, 9], [10, 11, 12, 13, 14]]
ENTITIES = [[15, 16], [17, 18, 19, 20], [21], [22, 23, 24], [25, 26, 27, 28, 29], [30, 31]]


def side(tower, texts, places):
    ids = np.zeros((len(texts), max(map(len, texts))), dtype=np.int64)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = text
    return Side(tower, ids, (ids != 0).astype(np.int64), np.array(places))


def make_batch(mask, views=False):
    """Places out of order; with views, the second entity is stood for by a mention."""
    entities = [
        side("mention" if views else "entity", ENTITIES[1:2], [1]),
        side("entity", [ENTITIES[4], ENTITIES[0], ENTITIES[2]], [4, 0, 2]),
        side("entity", [ENTITIES[3], ENTITIES[5]], [3, 5]),
    ]
    return PairBatch([side("mention", MENTIONS, [0, 1, 2])], entities, MASKS[mask])


def make(loss="Pb", *, tied=False, dtype=torch.float64, dropout=0.0, **settings):
    encoder = BiEncoder(name="random:layers=1,width=32", tied=tied)
    encoder.initialize()
    with torch.no_grad():
        for number, parameter in enumerate(encoder.towers.parameters()):
            generator = torch.Generator().manual_seed(number)
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    set_dropout(encoder.towers, dropout)
    return Objective(encoder.towers, LOSSES[loss], **settings).to(dtype).train()


# -- a loop over the mentions, the texts one by one, without padding -------------------------------


class ByHand:
    """Eq. 1, 3 and 5-8 of Wiatrak et al. (2022), one mention, one pair and one sequence at a time."""

    def __init__(self, objective, views=False):
        self.towers, self.loss = objective.towers, objective.loss
        self.similarity, self.fgsm = objective.similarity, objective.regularizer
        self.views = views

    def tower(self, kind):
        return self.towers[kind if kind in self.towers else "mention"]

    def mention(self, i):
        ids = torch.tensor([MENTIONS[i]])
        return self.tower("mention")(ids, torch.ones_like(ids))

    def input_embed(self, j):
        """The function from z = input_embed(e_j) to the entity's vector, and z."""
        tower = self.tower("mention" if self.views and j == 1 else "entity")
        ids = torch.tensor([ENTITIES[j]])
        return lambda z: tower(ids, torch.ones_like(ids), z), tower.embed(ids)

    def entity(self, i, j):
        """The vector of entity j, the same for every mention i."""
        encode, z = self.input_embed(j)
        return encode(z)

    def of_pair(self, i, j):
        """Eq. 6, or 7 where j is the positive of i: z moves by the similarity of this pair alone."""
        encode, z = self.input_embed(j)
        probe = z.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(self.similarity(self.mention(i), encode(probe)).sum(), probe)
        sign = -1 if i == j else 1
        return encode(z + sign * self.fgsm.epsilon * gradient.sign())

    def of_negative(self, mask):
        """Eq. 7 for positives; for negatives Eq. 5, with the gradient of the loss of all
        mentions that share the negative."""
        probes = {j: self.input_embed(j)[1].detach().requires_grad_() for j in np.flatnonzero(mask.any(axis=0))}
        loss = self.mean_loss(mask, lambda i, j: self.entity(i, j) if i == j else self.input_embed(j)[0](probes[j]))
        slopes = dict(zip(probes, torch.autograd.grad(loss, list(probes.values())), strict=True))

        def vector(i, j):
            if i == j:
                return self.of_pair(i, j)
            encode, z = self.input_embed(j)
            return encode(z + self.fgsm.epsilon * slopes[j].sign())

        return vector

    def mean_loss(self, mask, vector):
        losses = []
        for i in range(3):
            own = self.similarity(self.mention(i), vector(i, i))[0]
            others = [self.similarity(self.mention(i), vector(i, j)) for j in np.flatnonzero(mask[i])]
            others = torch.cat(others, dim=1) if others else torch.zeros((1, 0), dtype=own.dtype)
            losses.append(self.loss(own, others, torch.ones_like(others, dtype=torch.bool)))
        return torch.cat(losses).mean()

    def clean(self, mask):
        return self.mean_loss(mask, self.entity)

    def per_pair(self, mask):
        """L(m, P_adv) of Eq. 8, as the paper has it."""
        return self.mean_loss(mask, self.of_pair)

    def per_negative(self, mask):
        """L(m, P_adv) with one step for each negative, however many mentions share it."""
        return self.mean_loss(mask, self.of_negative(mask))


def gradients(objective, loss):
    objective.zero_grad()
    loss.backward()
    return {name: p.grad.clone() for name, p in objective.towers.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("similarity", [Cosine(), DotProduct()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_clean_loss_by_hand(loss, similarity):
    objective = make(loss, similarity=similarity)
    for mask in MASKS:
        value, metrics = objective(make_batch(mask))
        expected = ByHand(objective).clean(MASKS[mask])
        torch.testing.assert_close(value, expected, rtol=1e-9, atol=1e-9)
        assert set(metrics) == {"similarity+", "similarity-", "accuracy"}
        assert all(np.isfinite(list(metrics.values())))


def check_total(objective, mask, perturbed, views=False):
    """L(m, P) + lambda L(m, P_adv) and its gradients, for a perturbed loss by hand."""
    value, metrics = objective(make_batch(mask, views))
    expected = ByHand(objective, views).clean(MASKS[mask]) + objective.regularizer.weight * perturbed
    torch.testing.assert_close(value, expected, rtol=1e-9, atol=1e-9, msg=mask)
    assert metrics["loss_adversarial"] == pytest.approx(float(perturbed.detach()), rel=1e-9)
    ours, theirs = gradients(objective, value), gradients(objective, expected)
    assert set(ours) == set(theirs)
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], rtol=1e-7, atol=1e-9, msg=f"{mask} {name}")


PAPERS = pytest.mark.parametrize(
    ("loss", "similarity"), [("Pb", Cosine()), ("CE", DotProduct())], ids=["Pb-cosine", "CE-dot"]
)
OWN = ("per mention", "several", "one without")
SHARED = tuple(mask for mask in MASKS if mask not in OWN)


@PAPERS
@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_own_negatives_are_perturbed_pair_by_pair_as_in_the_paper(loss, similarity, tied, views):
    """Eq. 6-8 to the letter: each negative belongs to one mention (``shared = false``)."""
    objective = make(loss, tied=tied, similarity=similarity, regularizer=FGSM(epsilon=0.05, weight=0.7))
    for mask in OWN:
        check_total(objective, mask, ByHand(objective, views).per_pair(MASKS[mask]), views)


@PAPERS
@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_shared_negatives_take_one_step_up_the_loss(loss, similarity, tied, views):
    """Ours where mentions share a negative: it is one sequence and takes one step, that of Eq. 5. The paper's
    Eq. 6 has one for each pair."""
    objective = make(loss, tied=tied, similarity=similarity, regularizer=FGSM(epsilon=0.05, weight=0.7))
    for mask in SHARED if not (views or tied) else ["in batch"]:
        check_total(objective, mask, ByHand(objective, views).per_negative(MASKS[mask]), views)


def test_eval_mode_is_untouched(monkeypatch):
    objective = make(regularizer=FGSM()).eval()
    plain = make().eval()
    for tower in objective.towers.values():
        monkeypatch.setattr(tower, "embed", None)  # not asked for
    value, metrics = objective(make_batch("per mention"))
    expected, plain_figures = plain(make_batch("per mention"))
    assert torch.equal(value, expected) and metrics == plain_figures
    with torch.inference_mode():
        assert torch.equal(objective(make_batch("per mention"))[0], expected)


def close_in_bf16(exact, mask):
    """The value in full precision."""
    expected, _ = exact(make_batch(mask))
    with torch.autocast("cpu", torch.bfloat16):
        value, _ = exact(make_batch(mask))
    assert value.dtype == torch.float32
    torch.testing.assert_close(value, expected, rtol=0.05, atol=0.05)
    value.backward()
    assert all(torch.isfinite(p.grad).all() for p in exact.parameters() if p.grad is not None)
    return expected


@pytest.mark.parametrize("mask", ["per mention", "in batch"])
def test_bf16_and_dropout(mask):
    expected = close_in_bf16(make(dtype=torch.float32, regularizer=FGSM()), mask)
    dropped = make(dtype=torch.float32, dropout=0.3, regularizer=FGSM())
    values = []
    for _ in range(2):
        torch.manual_seed(3)
        values.append(float(dropped(make_batch(mask))[0].detach()))
    assert values[0] == values[1] != float(expected.detach()), "the same seed, the same masks"


def test_slopes_too_small_for_float32_still_have_a_direction():
    """A negative at a dot product of -1000 weighs exp(-1000) = 0 in the loss; it moves all the same."""
    scores = torch.tensor([[0.0, -1000.0, -900.0], [-2000.0, 0.0, -900.0]], requires_grad=True)
    mask = torch.tensor([[False, True, True], [False, False, True]])
    loss = CrossEntropy()(scores.diagonal(), scores, mask).mean()
    slopes = _slopes(scores, loss)
    pulled, pushed = _signs(slopes, mask)
    assert pulled.tolist() == [[-1, 0, 0], [0, -1, 0]]
    assert pushed.tolist() == [[0, 1, 1], [0, 0, 1]]


# -- precision --------------------------------------------------------------------------------------


class Lookup(torch.nn.Module):
    """A tower that gives each first token a vector of its own."""

    def __init__(self, vectors):
        super().__init__()
        self.vectors = torch.nn.Parameter(vectors)

    def forward(self, ids, mask):
        return self.vectors[ids[:, 0]]


def test_cosines_keep_their_digits_under_autocast():
    torch.manual_seed(0)
    vectors = torch.randn(6, 64)
    objective = Objective(torch.nn.ModuleDict({"mention": Lookup(vectors)}), ProxySoftplus())
    ones, places = np.ones((3, 1), dtype=np.int64), np.arange(3)
    batch = PairBatch(
        anchors=[Side("mention", np.array([[0], [1], [2]]), ones, places)],
        entities=[Side("mention", np.array([[3], [4], [5]]), ones, places)],
        negative_mask=~np.eye(3, dtype=bool),
    )
    exact, _ = objective(batch)
    with torch.autocast("cpu", torch.bfloat16):
        rounded, _ = objective(batch)
    torch.testing.assert_close(rounded, exact, rtol=1e-6, atol=1e-6)

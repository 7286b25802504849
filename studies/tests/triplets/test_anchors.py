"""Anchors: a contract for every registered part; Eq. 3 and Algorithm 1 of Le & Nguyen (2023) literally."""

import math

import numpy as np
import pytest
import torch
from spacy_pel_studies.triplets.anchors import AnchorPart, MeanPrototype, OneMention, SoftRadius, draw_members

from spacy_pel.errors import PelError
from spacy_pel.registry import registry

NAMES = sorted(registry.parts("pel_anchors").values())
GROUPS = torch.tensor([0, 2, 1, 0, 0, 2, 3, 0])


def vectors_of(groups=GROUPS, width=5, seed=0, dtype=torch.float64):
    rng = np.random.default_rng(seed)
    return torch.tensor(rng.normal(size=(len(groups), width)), dtype=dtype, requires_grad=True)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(params=NAMES)
def part(request):
    return registry.pel_anchors.get(request.param)()


# -- contract ------------------------------------------------------------------------------------


def test_contract_every_group_has_an_anchor(part):
    assert isinstance(part, AnchorPart)
    chosen = part.select(GROUPS, generator())
    assert chosen.tolist() == sorted(set(chosen.tolist())), "places are ascending"
    assert set(GROUPS[chosen].tolist()) == {0, 1, 2, 3}
    vectors = vectors_of()
    made = part(vectors[chosen], GROUPS[chosen], generator())
    assert made.vectors.shape == (len(made.groups), 5) and made.vectors.dtype == torch.float64
    assert set(made.groups.tolist()) == {0, 1, 2, 3} and made.loss.shape == ()
    made.vectors.square().sum().backward()
    assert torch.isfinite(vectors.grad).all() and (vectors.grad[[2, 6]] != 0).all()


def test_contract_one_per_group_says_what_a_batch_counts(part):
    for groups in (GROUPS, torch.zeros(60, dtype=torch.int64)):
        made = part(vectors_of(groups), groups, generator())
        assert (len(made.groups) == len(groups.unique())) is part.one_per_group
    assert not AnchorPart.one_per_group, "a new part counts mentions unless it says otherwise"


def test_contract_same_seed_same_anchors(part):
    whole = part(vectors_of(), GROUPS, generator(1))
    torch.rand(3)
    again = part(vectors_of(), GROUPS, generator(1))
    assert torch.equal(whole.vectors, again.vectors) and whole.metrics == again.metrics
    before = torch.get_rng_state()
    part(vectors_of(), GROUPS, generator(1))
    assert torch.equal(torch.get_rng_state(), before), "the global generator is left alone"


def test_contract_other_groups_do_not_matter(part):
    vectors = vectors_of().detach()
    made = part(vectors, GROUPS, generator(1))
    for group in range(4):
        others = torch.where((GROUPS == group).unsqueeze(1), vectors, 3 * vectors.flip(0) + 1)
        changed = part(others, GROUPS, generator(1))
        assert torch.equal(changed.vectors[changed.groups == group], made.vectors[made.groups == group])
        moved = changed.vectors[changed.groups != group] != made.vectors[made.groups != group]
        assert moved.any(dim=1).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_contract_half_precision(part, dtype):
    """A group of 600: bfloat16 counts up to 256 only, and float16 sums overflow at 65,504."""
    groups = torch.cat([GROUPS, torch.full((600,), 4)])
    halves = (200 + vectors_of(groups).detach()).to(dtype)
    exact = part(halves.double(), groups, generator())
    made = part(halves, groups, generator())
    assert made.vectors.dtype == dtype and torch.equal(made.groups, exact.groups)
    step = 200 * torch.finfo(dtype).eps
    torch.testing.assert_close(made.vectors.double(), exact.vectors, rtol=0, atol=step)
    assert made.loss.item() == pytest.approx(exact.loss.item(), rel=0.02)


# -- each part -----------------------------------------------------------------------------------


def test_one_mention_is_drawn_evenly():
    drawn = [draw_members(GROUPS, generator(seed)).tolist() for seed in range(600)]
    counts = np.bincount([places[0] for places in drawn], minlength=8)
    assert counts[[1, 2, 5, 6]].sum() == 0 and (np.abs(counts[[0, 3, 4, 7]] - 150) < 45).all()
    assert all(places[1] == 2 and places[3] == 6 and places[2] in (1, 5) for places in drawn)
    chosen = OneMention().select(GROUPS, generator(3))
    assert len(chosen) == 4
    made = OneMention()(vectors_of(), GROUPS, generator(3))
    assert sorted(made.groups.tolist()) == [0, 1, 2, 3]
    assert torch.equal(made.vectors, vectors_of()[chosen])


def test_mean_prototype_is_the_mean():
    vectors = vectors_of()
    made = MeanPrototype()(vectors, GROUPS, generator())
    for group in range(4):
        members = [i for i in range(8) if GROUPS[i] == group]
        mean = [sum(vectors[i, d].item() for i in members) / len(members) for d in range(5)]
        np.testing.assert_allclose(made.vectors[group].tolist(), mean, rtol=1e-12)
    assert made.groups.tolist() == [0, 1, 2, 3]


def slow_algorithm_1(mentions, anchor, radius, epsilon):
    """Le & Nguyen (2023), Algorithm 1, line by line, and the mean of the cluster."""
    cluster, r = [], 0.0
    m_i = mentions[anchor]
    for m_k in mentions:
        d = math.sqrt(sum((a - b) ** 2 for a, b in zip(m_i, m_k, strict=True)))
        if d <= radius + epsilon:
            cluster.append(m_k)
            if d > r:
                r = d
    loss = (radius - r) ** 2
    prototype = [sum(column) / len(cluster) for column in zip(*cluster, strict=True)]
    return prototype, r, loss, len(cluster)


@pytest.mark.parametrize("radius", [0.5, 2.0, 3.0, 11.0])
def test_soft_radius_is_algorithm_1(radius):
    part = SoftRadius(radius=radius, epsilon=0.25).double()
    vectors = vectors_of(seed=int(radius))
    made = part(vectors, GROUPS, generator(7))
    anchors = draw_members(GROUPS, generator(7)).tolist()
    losses, radii, sizes = [], [], []
    for group in range(4):
        members = [i for i in range(8) if GROUPS[i] == group]
        found = slow_algorithm_1([vectors[i].tolist() for i in members], members.index(anchors[group]), radius, 0.25)
        np.testing.assert_allclose(made.vectors[group].tolist(), found[0], rtol=1e-10)
        radii.append(found[1])
        losses.append(found[2])
        sizes.append(found[3])
    assert made.loss.item() == pytest.approx(np.mean(losses), rel=1e-6)
    assert made.metrics["radius"] == radius and made.metrics["cluster_size"] == np.mean(sizes)
    assert made.metrics["radius_loss"] == made.loss.item()
    # "Update lambda": the gradient is that of the loss, and it reaches nothing else
    (slope,) = torch.autograd.grad(made.loss, part.radius, retain_graph=True)
    assert slope.item() == pytest.approx(np.mean([2 * (radius - r) for r in radii]), rel=1e-6)
    assert torch.autograd.grad(made.loss, vectors, allow_unused=True) == (None,)
    if radius == 11.0:
        assert max(sizes) == 4, "everything is within 12"
    if radius == 0.5:
        assert max(sizes) < 4


def test_lambda_can_start_at_the_distances_that_there_are():
    part = SoftRadius(radius=None, epsilon=0.0)
    alone = part(torch.eye(3), torch.arange(3), generator())
    assert not part.started and alone.loss.item() == 0 and alone.loss.requires_grad
    vectors = torch.tensor([[0.0, 0.0], [0.0, 2.0], [9.0, 0.0], [9.0, 4.0], [5.0, 5.0]])
    made = part(vectors, torch.tensor([0, 0, 1, 1, 2]), generator())
    assert part.started and made.metrics["radius"] == pytest.approx(3.0)
    assert made.metrics["cluster_size"] == pytest.approx(4 / 3)  # 2 <= 3 < 4
    other = SoftRadius(radius=None)
    other.load_state_dict(part.state_dict())
    assert other.started and other.radius == part.radius


def test_errors():
    for settings in ({"radius": -1.0}, {"epsilon": -0.1}, {"learn_rate": -1.0}):
        with pytest.raises(PelError, match="PEL-E301"):
            SoftRadius(**settings)

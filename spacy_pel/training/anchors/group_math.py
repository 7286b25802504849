"""Means and draws over groups, without a loop over them."""

import torch
from torch import Tensor


def group_means(vectors: Tensor, groups: Tensor, weights: Tensor) -> Tensor:
    """Weighted means of the members of each group, summed in float32: bfloat16 cannot count beyond 256.

    Args:
        vectors: (n, width).
        groups: (n,) int64, 0 … g - 1, none empty.
        weights: (n,); their sum over a group is not 0.

    Returns:
        (g, width), of the type of the vectors.
    """
    n_groups = int(groups.max()) + 1
    dtype = torch.promote_types(vectors.dtype, torch.float32)
    wide, weights = vectors.to(dtype), weights.to(dtype)
    sums = wide.new_zeros(n_groups, vectors.shape[1])
    sums = sums.index_add(0, groups, wide * weights.unsqueeze(1))
    totals = wide.new_zeros(n_groups).index_add(0, groups, weights)
    return (sums / totals.unsqueeze(1)).to(vectors.dtype)


def draw_members(groups: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one member of each group, uniformly.

    Args:
        groups: (n,) int64, 0 … g - 1, none empty.
        generator: of the CPU.

    Returns:
        (g,) int64, position in ``groups`` for each group.
    """
    order = torch.randperm(len(groups), generator=generator).to(groups.device)
    # sorted by group, in random order within a group
    order = order[torch.argsort(groups[order], stable=True)]
    sizes = torch.bincount(groups)
    return order[sizes.cumsum(0) - sizes]

"""AdamW with the paper's schedule and separate learning rates for towers, proxies and other modules."""

from typing import Any, Sequence, Tuple

import torch
from torch import nn

from .settings import OptimizerSettings


def make_optimizer(
    objective: Any, settings: OptimizerSettings, own_rates: Sequence[Tuple[nn.Module, float]] = ()
) -> torch.optim.Optimizer:
    """Build AdamW with groups for towers, proxies and modules with their own learning rate.

    Biases and layer norms are not decayed, as usual for BERT.

    objective (nn.Module): has ``towers`` and ``loss``.
    own_rates (Sequence[Tuple[nn.Module, float]]): modules in it and their peak learning rates.
    RETURNS (Optimizer): each group holds its peak rate as "peak".
    """

    def decays(parameter: nn.Parameter) -> bool:
        return parameter.ndim > 1

    towers = [p for p in objective.towers.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in towers if decays(p)], "weight_decay": settings.weight_decay},
        {"params": [p for p in towers if not decays(p)], "weight_decay": 0.0},
    ]
    for group in groups:
        group["peak"] = settings.learn_rate  # type: ignore[assignment]
    proxies = list(objective.loss.parameters())
    if proxies:
        groups.append({"params": proxies, "weight_decay": 0.0, "peak": settings.proxy_learn_rate})
    for module, rate in own_rates:
        own = list(module.parameters())
        if own:
            groups.append({"params": own, "weight_decay": 0.0, "peak": rate})
    return torch.optim.AdamW(groups, lr=settings.learn_rate, eps=settings.epsilon)


def set_learn_rate(optimizer: Any, step: int, total: int, warmup: float) -> float:
    """Linear warm-up over a share of the steps, then linear decay to zero at the end.

    A function of the step alone: a resumed run needs no scheduler state.

    step (int): updates done so far.
    total (int): total number of updates.
    RETURNS (float): the factor on the peak rates.
    """
    rising = max(1, round(total * warmup))
    factor = (step + 1) / rising if step < rising else (total - step) / max(1, total - rising)
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * max(0.0, factor)
    return factor

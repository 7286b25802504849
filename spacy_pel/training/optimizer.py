"""Device and precision of a training, and AdamW with the paper's schedule and separate learning rates for towers,
proxies and other modules."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from ..encoders.backend import native_bfloat16
from ..errors import Errors, PelError, Warnings
from ..util import logger
from .settings import OptimizerSettings, Precision


def find_device(gpu_id: int) -> torch.device:
    """The CUDA device of this number; -1 = the CPU.

    Raises:
        PelError: if torch does not see it.
    """
    if gpu_id >= torch.cuda.device_count():
        got = f"torch sees {torch.cuda.device_count()} CUDA devices"
        raise PelError(Errors.E316.format(gpu_id=gpu_id, got=got))
    return torch.device("cpu") if gpu_id < 0 else torch.device("cuda", gpu_id)


def uses_bfloat16(precision: Precision, device: torch.device) -> bool:
    """Whether a training computes in bfloat16: "auto" does where the device has units for it; without them it is
    slow, which is logged."""
    native = native_bfloat16(device)
    if precision == "auto":
        logger.info("Precision: %s", "bfloat16" if native else "float32")
        return native
    if precision == "bf16" and not native:
        logger.warning(Warnings.W300)
    return precision == "bf16"


def make_optimizer(
    objective: Any, settings: OptimizerSettings, own_rates: Sequence[tuple[nn.Module, float]] = ()
) -> torch.optim.Optimizer:
    """Build AdamW with groups for towers, proxies and modules with their own learning rate.

    Biases and layer norms are not decayed, as usual for BERT.

    Args:
        objective: has ``towers`` and ``loss``.
        own_rates: modules in it and their peak learning rates.

    Returns:
        Each group holds its peak rate as "peak", and whether it follows the schedule as
        "schedule": False for a loss or a module with the attribute ``schedule = False``.
    """

    def decays(parameter: nn.Parameter) -> bool:
        return parameter.ndim > 1

    towers = [p for p in objective.towers.parameters() if p.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [p for p in towers if decays(p)], "weight_decay": settings.weight_decay},
        {"params": [p for p in towers if not decays(p)], "weight_decay": 0.0},
    ]
    for group in groups:
        group.update(peak=settings.learn_rate, schedule=True)
    for module, rate in ((objective.loss, settings.proxy_learn_rate), *own_rates):
        parameters = list(module.parameters())
        if parameters:
            scheduled = getattr(module, "schedule", True)
            groups.append({"params": parameters, "weight_decay": 0.0, "peak": rate, "schedule": scheduled})
    return torch.optim.AdamW(groups, lr=settings.learn_rate, eps=settings.epsilon)


def set_learn_rate(optimizer: Any, step: int, total: int, warmup: float) -> float:
    """Linear warm-up over a share of the steps, then linear decay to zero at the end. Groups that do not
    follow the schedule keep their peak rate.

    A function of the step alone: a resumed run needs no scheduler state.

    Args:
        step: updates done so far.
        total: total number of updates.

    Returns:
        The factor on the peak rates.
    """
    rising = max(1, round(total * warmup))
    factor = (step + 1) / rising if step < rising else (total - step) / max(1, total - rising)
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * (max(0.0, factor) if group["schedule"] else 1.0)
    return factor

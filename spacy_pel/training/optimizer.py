"""Device and precision of a training, and AdamW with the paper's schedule and separate learning rates for towers,
proxies and other modules."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import nn

from ..errors import Errors, PelError, Warnings
from ..util import logger
from .settings import OptimizerSettings

Precision = Literal["auto", "no", "bf16", "fp16"]

if TYPE_CHECKING:
    from accelerate import Accelerator


def native_bfloat16(device: torch.device) -> bool:
    """Whether a device multiplies bfloat16 natively; elsewhere it is slower."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and bool(getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)())


def check_gpu(gpu_id: int) -> None:
    """Raises:
    PelError: if torch does not see this CUDA device.
    """
    if gpu_id >= torch.cuda.device_count():
        got = f"torch sees {torch.cuda.device_count()} CUDA devices"
        raise PelError(Errors.E316.format(gpu_id=gpu_id, got=got))


def make_accelerator(gpu_id: int, mixed_precision: Precision, accumulate_gradient: int) -> "Accelerator":
    """Set up the device of a training.

    Args:
        gpu_id: CUDA device; -1 = CPU.
        mixed_precision: autocast type; "auto" is "bf16" where the device has bfloat16 units, and "no"
            elsewhere; "bf16" on a processor without them is slow, which is logged.
        accumulate_gradient: batches per update.

    Returns:
        Used by this training only.

    Raises:
        PelError: if there is no such device, or the extra ``train`` is not installed.
    """
    try:
        from accelerate import Accelerator
        from accelerate.state import AcceleratorState
    except ImportError as err:
        raise PelError(Errors.E003.format(feature="Training", package="accelerate", extra="train")) from err

    if gpu_id >= 0:
        check_gpu(gpu_id)
        torch.cuda.set_device(gpu_id)
    native = native_bfloat16(torch.device("cuda" if gpu_id >= 0 else "cpu"))
    if mixed_precision == "auto":
        mixed_precision = "bf16" if native else "no"
        logger.info("Precision: %s", "bfloat16" if native else "float32")
    elif mixed_precision == "bf16" and gpu_id < 0 and not native:
        logger.warning(Warnings.W300)
    # otherwise accelerate keeps the precision and device of the first training in this process
    AcceleratorState._reset_state(reset_partial_state=True)
    return Accelerator(cpu=gpu_id < 0, mixed_precision=mixed_precision, gradient_accumulation_steps=accumulate_gradient)


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

"""Device and precision of a training."""

from typing import TYPE_CHECKING, Literal

import torch

from ..encoders.backend import native_bfloat16
from ..errors import Errors, PelError, Warnings
from ..util import logger

Precision = Literal["auto", "no", "bf16", "fp16"]

if TYPE_CHECKING:
    from accelerate import Accelerator


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

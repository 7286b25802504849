"""The teacher: another encoder, whose similarities are added to each batch."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ...encoders import load_encoder
from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from .batches import BatchPlanner
from .objective import Objective
from .settings import PelSettings


class Teacher:
    """Reads the texts of each batch with an encoder of any size, tokenizer and templates.

    Args:
        encoder: with weights, which stay as they are.
        planner: of the same examples as the training's, tokenised for this encoder.
        accelerator: its device and precision.
    """

    def __init__(self, encoder: BiEncoder, planner: BatchPlanner, accelerator: Any):
        self.planner = planner
        self.accelerator = accelerator
        self._objective = Objective(encoder.towers, nn.Identity(), similarity=encoder.similarity)
        self._objective.to(accelerator.device).eval().requires_grad_(False)

    def targets(self, student: BatchPlanner, plan: NDArray[np.int64], number: int) -> NDArray[np.float32]:
        """Args:
            student: of the training; its mined negatives are in the batch.
                plan, number: of the batch, as for ``BatchPlanner.build``.

        Returns:
            (n, m) similarities of the batch's anchors and entities.
        """
        self.planner.mined = student.mined
        batch = self.planner.build(plan, number)
        with torch.inference_mode(), self.accelerator.autocast():
            scores: NDArray[np.float32] = self._objective.similarities(batch).float().cpu().numpy()
        return scores


def load_teacher(pel: PelSettings) -> BiEncoder | None:
    """The model that [pel.teacher] names; None without that section.

    Raises:
        PelError: if it is missing or of another kind, or does not go together with another setting.
    """
    if pel.teacher is None:
        return None
    check_teacher(pel)
    encoder = load_encoder(pel.teacher.path)
    if not isinstance(encoder, BiEncoder):
        raise PelError(Errors.E357.format(path=pel.teacher.path, got=type(encoder).__name__))
    own, its = (one.similarity.registered_name for one in (pel.encoder, encoder))
    if own != its:  # one scale is for both
        raise PelError(Errors.E356.format(why=f"its similarity is {its}, and that of [pel.encoder] is {own}"))
    return encoder


def check_teacher(pel: PelSettings) -> None:
    """Raises:
    PelError: if another section does not go together with [pel.teacher].
    """
    reasons = {
        "it reads the texts as they are, and [pel.regularizer] perturbs them": pel.regularizer,
        "it reads texts, and [pel.mixing] makes negatives that have none": pel.mixing,
        "it reads the texts of a batch, and [pel.rows] compares mentions with others": pel.rows,
    }
    for why, setting in reasons.items():
        if pel.teacher is not None and setting is not None:
            raise PelError(Errors.E356.format(why=why))

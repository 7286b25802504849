"""The teacher of a training: another encoder, whose similarities the batches bring along."""

from pathlib import Path
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

    encoder (BiEncoder): with weights, which stay as they are.
    planner (BatchPlanner): of the same examples as the training's, tokenised for this encoder.
    accelerator (Accelerator): its device and precision.
    """

    def __init__(self, encoder: BiEncoder, planner: BatchPlanner, accelerator: Any):
        self.planner = planner
        self.accelerator = accelerator
        self._objective = Objective(encoder.towers, nn.Identity(), similarity=encoder.similarity)
        self._objective.to(accelerator.device).eval().requires_grad_(False)

    def targets(self, student: BatchPlanner, plan: NDArray[np.int64], number: int) -> NDArray[np.float32]:
        """student (BatchPlanner): of the training; its mined negatives are in the batch.
        plan, number: of the batch, as for ``BatchPlanner.build``.
        RETURNS (NDArray[float32]): (n, m) similarities of the batch's anchors and entities.
        """
        self.planner.mined = student.mined
        batch = self.planner.build(plan, number)
        with torch.inference_mode(), self.accelerator.autocast():
            scores: NDArray[np.float32] = self._objective.similarities(batch).float().cpu().numpy()
        return scores


def load_teacher(path: Path) -> BiEncoder:
    """RETURNS (BiEncoder): the model in a folder.

    RAISES (PelError): if there is none, or it is of another kind.
    """
    encoder = load_encoder(path)
    if not isinstance(encoder, BiEncoder):
        raise PelError(Errors.E357.format(path=path, got=type(encoder).__name__))
    return encoder


def check_teacher(pel: PelSettings) -> None:
    """RAISES (PelError): if another setting does not go together with [pel.teacher]."""
    reasons = {
        "[pel.regularizer] perturbs entities, which the teacher does not see": pel.regularizer,
        "[pel.mixing] mixes negatives, which the teacher does not see": pel.mixing,
        "[pel.rows] compares mentions with rows beyond the batch": pel.rows,
    }
    for why, setting in reasons.items():
        if setting is not None:
            raise PelError(Errors.E356.format(why=why))

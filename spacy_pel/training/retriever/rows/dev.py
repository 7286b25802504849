"""Evaluation of training on rows: recall@k of dev mentions among all names and annotated mentions."""

import numpy as np
import torch

from ....encoders.bi_encoder import BiEncoder
from ....kb import KnowledgeBase
from ....util.ragged import Ragged
from ..dev import DevRetrieval
from .batches import TrainingRows
from .memory import RowMemory

_ROWS_PER_ENTITY = 16  # rows found for an entity that is wanted: many are names and mentions of one
_BLOCK = 256  # mentions searched for at a time


class RowRetrieval(DevRetrieval):
    """Measures retrieval by the nearest rows of a memory: distinct entities, each by its best row. The whole
    knowledge base takes part; ``n_entities`` and ``kinds`` of the settings are not used.

    ``search_in`` gives it the rows, before it is called.
    """

    rows: TrainingRows
    memory: RowMemory

    def search_in(self, rows: TrainingRows, memory: RowMemory) -> None:
        """Set what is searched."""
        self.rows, self.memory = rows, memory

    def _part(self, kb: KnowledgeBase, n_entities: int, rng: np.random.Generator) -> KnowledgeBase:
        return kb

    def _found(self, encoder: BiEncoder, deepest: int) -> list[list[int]]:
        queries = torch.from_numpy(encoder.encode_mentions(self.mentions)).to(self.memory.vectors.device)
        nothing = np.zeros(0, dtype=np.int64)
        found: list[list[int]] = []
        for block in queries.split(_BLOCK):
            hidden = Ragged(nothing, np.zeros(len(block) + 1, dtype=np.int64))
            rows, _ = self.memory.nearest(block, _ROWS_PER_ENTITY * deepest, hidden=hidden, everywhere=nothing)
            entities = self.kb.live_rows[self.rows.entity[rows]]
            found += [list(dict.fromkeys(own))[:deepest] for own in entities.tolist()]
        return found

"""A transformer over a pair, a reduction and a linear layer. Pure torch."""

from typing import Any

import torch
from torch import Tensor, nn

from ...encoders.tower import Pooling, pool


class CrossTower(nn.Module):
    """ids, mask -> one score a pair: the linear layer on the mean over the real tokens (Wiatrak et
    al. 2022, Appendix B).

    The linear layer starts at zero: before training all candidates score the same, and the order
    stays the retriever's.

    Args:
        transformer: any Hugging Face encoder.
        pooling: "mean" or "cls".
        sep_id: id of [SEP]; what follows the first one is the entity.
    """

    def __init__(self, transformer: Any, *, pooling: Pooling, sep_id: int):
        super().__init__()
        self.transformer = transformer
        self.pooling: Pooling = pooling
        self.sep_id = sep_id
        self.head = nn.Linear(transformer.config.hidden_size, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, mask: Tensor, embeddings: Tensor | None = None) -> Tensor:
        """Args:
            ids, mask: (batch, length), int64.
            embeddings: (batch, length, width) to read instead of the word
                embeddings of the ids; position and segment embeddings are added as usual.

        Returns:
            (batch, 1).
        """
        inputs = {"input_ids": ids} if embeddings is None else {"inputs_embeds": embeddings}
        if getattr(self.transformer.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = self.entity_part(ids, mask)
        tokens = self.transformer(**inputs, attention_mask=mask).last_hidden_state
        # the mean of many tokens loses digits in half precision
        pooled = pool(tokens.to(torch.float32), mask, self.pooling)
        with torch.autocast(ids.device.type, enabled=False):
            return self.head(pooled)  # type: ignore[no-any-return]

    def embed(self, ids: Tensor) -> Tensor:
        """(batch, length, width), the word embeddings that ``forward`` would read."""
        return self.transformer.get_input_embeddings()(ids)  # type: ignore[no-any-return]

    def entity_part(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(batch, length) int64, 1 = a real token of the entity."""
        is_sep = (ids == self.sep_id).to(torch.int64)
        after_sep = (is_sep.cumsum(dim=1) - is_sep) > 0
        return after_sep.to(torch.int64) * mask

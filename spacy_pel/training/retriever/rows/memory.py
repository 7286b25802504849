"""The vectors of all rows, each from when it was last read, and a search among them."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ....encoders.bi_encoder import BiEncoder
from ....util.ragged import Ragged
from ..example_store import ExampleStore

_CHUNK = 32_768  # rows compared at a time
_OUT = -2.0  # below every cosine


class RowMemory(nn.Module):
    """Vectors of length 1 of n rows, kept in bfloat16; a buffer, so that checkpoints hold it.

    A vector is as old as the last reading of its row, an epoch at most for mentions; the weights change
    slowly (a memory bank, as in Wu et al. 2018, "Unsupervised feature learning via non-parametric instance
    discrimination").

    Args:
        n: number of rows.
        width: of the vectors.
    """

    vectors: Tensor

    def __init__(self, n: int, width: int):
        super().__init__()
        self.register_buffer("vectors", torch.zeros(n, width, dtype=torch.bfloat16))

    def __len__(self) -> int:
        return len(self.vectors)

    def fill(self, encoder: BiEncoder, store: ExampleStore, *, show_progress: bool = False) -> None:
        """Encode all rows: the names, then the mentions.

        Args:
            encoder: with the initial weights.
            store: the examples.
        """
        n_names = len(store.names)
        for side, tokens, first in (("entity", store.names, 0), ("mention", store.mentions, n_names)):
            vectors = encoder.encode_tokens(side, tokens, show_progress=show_progress)  # type: ignore[arg-type]
            self.put(np.arange(first, first + len(vectors)), torch.from_numpy(vectors))

    @torch.no_grad()
    def put(self, rows: NDArray[np.int64], vectors: Tensor) -> None:
        """Replace vectors.

        Args:
            rows: (m,) distinct.
            vectors: (m, width), of length 1.
        """
        self.vectors[self._on(rows)] = vectors.detach().to(self.vectors)

    @torch.no_grad()
    def nearest(
        self, queries: Tensor, k: int, *, hidden: Ragged, everywhere: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Find the rows with the highest inner products, by an exact search.

        Args:
            queries: (n, width).
            k: rows for each query.
            hidden: n pieces, the rows that each query must not find.
            everywhere: rows that no query may find.

        Returns:
            (n, k') rows, best first, and whether there is one: False where a
            query has fewer rows that are not hidden; k' = k, or less where there are fewer rows at all.
        """
        device = self.vectors.device
        # under autocast products are of the device's fast type
        dtype = self.vectors.dtype if torch.is_autocast_enabled(device.type) else torch.float32
        queries = queries.detach().to(dtype)
        order = np.argsort(hidden.values, kind="stable")
        query, row, everywhere = hidden.owners[order], hidden.values[order], np.sort(everywhere)
        best = torch.empty(len(queries), 0, device=device)
        rows = torch.empty(len(queries), 0, dtype=torch.int64, device=device)
        for start in range(0, len(self), _CHUNK):
            chunk = self.vectors[start : start + _CHUNK]
            scores = (queries @ chunk.to(dtype).T).float()
            ends = [start, start + len(chunk)]
            low, high = np.searchsorted(row, ends)
            scores[self._on(query[low:high]), self._on(row[low:high] - start)] = _OUT
            low, high = np.searchsorted(everywhere, ends)
            scores[:, self._on(everywhere[low:high] - start)] = _OUT
            top = scores.topk(min(k, len(chunk)), dim=1, sorted=False)
            best = torch.cat([best, top.values], dim=1)
            rows = torch.cat([rows, top.indices + start], dim=1)
        top = best.topk(min(k, best.shape[1]), dim=1)
        return rows.gather(1, top.indices).cpu().numpy(), (top.values > _OUT).cpu().numpy()

    def scores(self, queries: Tensor, rows: NDArray[np.int64]) -> Tensor:
        """Args:
            queries: (n, width), float32. rows (NDArray[int64]): (n, k), or -1.

        Returns:
            (n, k) inner products with the rows, in float32; with gradients for the queries.
        """
        kept = self.vectors[self._on(rows.clip(min=0))].float()
        return torch.einsum("nd,nkd->nk", queries, kept)

    def _on(self, numbers: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(numbers).to(self.vectors.device)

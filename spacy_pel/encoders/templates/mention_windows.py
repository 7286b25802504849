"""Windows of text that several mentions share, and where the mentions are in them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...util.ragged import Ragged
from .token_arrays import RaggedTokens


@dataclass
class MentionWindows:
    """n mentions, each the pieces of a window from its start to its end.

    Attributes:
        windows: each is encoded once, however many mentions it has.
            spans: (n, 3) int64: number of the window, first piece, and end (exclusive); never empty. May be
            memory-mapped.
    """

    windows: RaggedTokens
    spans: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, mention: int) -> NDArray[np.int32]:
        return self.windows[self.spans[mention, 0]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) pieces of each mention's window."""
        return self.windows.lengths[self.spans[:, 0]]

    def take(self, mentions: NDArray[np.int64]) -> "MentionWindows":
        """These mentions, in this order, and the windows they need, in memory."""
        spans = np.array(self.spans[mentions])
        used, spans[:, 0] = np.unique(spans[:, 0], return_inverse=True)
        return MentionWindows(self.windows.take(used), spans)

    @classmethod
    def concatenate(cls, parts: Sequence["MentionWindows"]) -> "MentionWindows":
        """The mentions of all parts in order."""
        spans: list[NDArray[np.int64]] = [np.zeros((0, 3), dtype=np.int64)]
        before = 0
        for part in parts:
            spans.append(part.spans + np.array([before, 0, 0]))
            before += len(part.windows)
        return cls(RaggedTokens.concatenate([part.windows for part in parts]), np.concatenate(spans))

    def by_window(self) -> Ragged:
        """The numbers of the mentions of each window."""
        order = np.argsort(self.spans[:, 0], kind="stable")
        bounds = np.searchsorted(self.spans[order, 0], np.arange(len(self.windows) + 1))
        return Ragged(order, bounds)


# of mentions: a sequence each, which markers divide, or shared windows
MentionTokens = RaggedTokens | MentionWindows


def window_numbers(tokens: MentionTokens) -> NDArray[np.int64]:
    """(n,) the window of each mention; one of its own where none are shared."""
    return tokens.spans[:, 0] if isinstance(tokens, MentionWindows) else np.arange(len(tokens))

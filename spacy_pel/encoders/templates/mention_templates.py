"""What the mention side reads: a mention between markers in its context, or whole texts in windows that their
mentions share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...registry import registry
from ...types import MentionInText
from ...util.config import PartSettings, check_range
from .token_arrays import MentionTokens, MentionWindows, RaggedTokens, check_length, piece_lists, pieces_with_offsets

# No word piece of an English text is longer than this on average over a window; a wider
# character window only costs time, a narrower one would cut context that fits.
_CHARACTERS_PER_PIECE = 12
_FRAME = 2  # [CLS] and [SEP]


@runtime_checkable
class MentionTemplate(Protocol):
    """Turns mentions in their texts into word pieces. ``max_length`` limits what is read at a time; a copy
    with another one is made from the other ``settings``.

    Attributes:
        has_markers: each mention has a sequence of its own, and ``special_tokens`` are the two markers
            around it; else mentions of one text share its windows and there are no special tokens.
    """

    registered_name: ClassVar[str]
    has_markers: ClassVar[bool]
    max_length: int

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def special_tokens(self) -> list[str]: ...

    def tokenize(self, tokenizer: Any, mentions: Sequence[MentionInText]) -> MentionTokens: ...


@registry.pel_templates("spacy-pel.MarkedContext.v1")
@dataclass(kw_only=True, eq=False)
class MarkedContext(PartSettings):
    """``[CLS] left context [M_s] mention [M_e] right context [SEP]`` (Wiatrak et al. 2022, Appendix A).

    The context is cut evenly on both sides; what one side does not need goes to the other.
    The mention is never cut unless it alone exceeds the limit; then its end is cut.

    Args:
        max_length: word pieces in all, special tokens included.
        start_marker, end_marker: special tokens, added to the tokenizer's vocabulary.
    """

    registered_name: ClassVar[str] = "spacy-pel.MarkedContext.v1"
    has_markers: ClassVar[bool] = True
    max_length: int = 128
    start_marker: str = "[M_s]"
    end_marker: str = "[M_e]"

    def __post_init__(self) -> None:
        check_length(self.max_length)

    @property
    def special_tokens(self) -> list[str]:
        """Tokens the tokenizer and the embedding matrix must hold."""
        return [self.start_marker, self.end_marker]

    def tokenize(self, tokenizer: Any, mentions: Sequence[MentionInText]) -> RaggedTokens:
        """One sequence a mention, at most max_length long."""
        reach = self.max_length * _CHARACTERS_PER_PIECE
        lefts = [_tail(text, start, reach) for text, start, _ in mentions]
        surfaces = [text[start:end][: 4 * reach] for text, start, end in mentions]
        rights = [_head(text, end, reach) for text, _, end in mentions]
        pieces, n = piece_lists(tokenizer, lefts + surfaces + rights), len(mentions)
        markers = tokenizer.convert_tokens_to_ids(self.special_tokens)
        return RaggedTokens.from_lists(
            [
                self._assemble(tokenizer, markers, left, surface, right)
                for left, surface, right in zip(pieces[:n], pieces[n : 2 * n], pieces[2 * n :], strict=True)
            ]
        )

    def _assemble(
        self, tokenizer: Any, markers: list[int], left: list[int], surface: list[int], right: list[int]
    ) -> list[int]:
        surface = surface[: self.max_length - 4]
        left_over = self.max_length - 4 - len(surface)
        n_left = min(len(left), max(left_over // 2, left_over - len(right)))
        n_right = min(len(right), left_over - n_left)
        return [
            tokenizer.cls_token_id,
            *left[len(left) - n_left :],
            markers[0],
            *surface,
            markers[1],
            *right[:n_right],
            tokenizer.sep_token_id,
        ]


def _tail(text: str, end: int, reach: int) -> str:
    """The last characters before ``end``, not beginning inside a word."""
    start = max(0, end - reach)
    if start:
        blank = text.find(" ", start, end)
        start = blank if blank != -1 else start
    return text[start:end]


def _head(text: str, start: int, reach: int) -> str:
    """The first characters from ``start``, not ending inside a word."""
    end = start + reach
    if end < len(text):
        blank = text.rfind(" ", start, end)
        end = blank if blank != -1 else end
    return text[start:end]


@registry.pel_templates("spacy-pel.DocumentWindows.v1")
@dataclass(kw_only=True, eq=False)
class DocumentWindows(PartSettings):
    """``[CLS] a stretch of the text [SEP]``: a text is encoded once for all of its mentions, without markers,
    and a mention is the mean over its own pieces.

    The windows follow from the text alone: they are evenly spread from its start to its end, so a mention's
    vector does not depend on the other mentions. Each mention is read in the window that has the most
    context on both sides. A mention that fits no window is read from its start, and its end is cut. One that
    has no pieces, such as white space, is the mean of a whole window.

    Args:
        max_length: word pieces of a window, special tokens included.
        overlap: share of a window that the next one repeats at least, 0 <= overlap < 1. A larger share
            gives mentions more context, and a text more windows.
    """

    registered_name: ClassVar[str] = "spacy-pel.DocumentWindows.v1"
    has_markers: ClassVar[bool] = False
    special_tokens: ClassVar[list[str]] = []
    max_length: int = 128
    overlap: float = 0.5

    def __post_init__(self) -> None:
        check_length(self.max_length)
        check_range("overlap", self.overlap, least=0, below=1)

    def tokenize(self, tokenizer: Any, mentions: Sequence[MentionInText]) -> MentionWindows:
        """Lay out the texts of some mentions; windows without any of them are left out.

        Args:
            tokenizer: with offsets.
            mentions: (n,), those of one text share its windows.

        Returns:
            Of the n mentions.

        Raises:
            PelError: if the tokenizer gives no offsets.
        """
        of_text: dict[str, list[int]] = {}
        for number, (text, _, _) in enumerate(mentions):
            of_text.setdefault(text, []).append(number)
        room = self.max_length - _FRAME
        windows: list[list[int]] = []
        spans = np.zeros((len(mentions), 3), dtype=np.int64)
        for numbers, (pieces, offsets) in zip(
            of_text.values(), pieces_with_offsets(tokenizer, list(of_text)), strict=True
        ):
            starts = window_starts(len(pieces), room, self.overlap)
            characters = np.array([mentions[number][1:] for number in numbers], dtype=np.int64)
            chosen = best_windows(starts, room, _piece_spans(offsets, characters))
            used, chosen[:, 0] = np.unique(chosen[:, 0], return_inverse=True)
            chosen[:, 0] += len(windows)
            spans[numbers] = chosen
            for start in starts[used].tolist():
                stretch = pieces[start : start + room]
                windows.append([tokenizer.cls_token_id, *stretch, tokenizer.sep_token_id])
        tokens = RaggedTokens.from_lists(windows)
        spans[:, 1:] += 1  # [CLS]
        bare = spans[:, 1] == spans[:, 2]
        spans[bare, 1], spans[bare, 2] = 0, tokens.lengths[spans[bare, 0]]
        return MentionWindows(tokens, spans)


def window_starts(n_pieces: int, room: int, overlap: float) -> NDArray[np.int64]:
    """Spread windows evenly over a text, as few as the overlap allows.

    Args:
        n_pieces: of the text.
        room: pieces of a window.
        overlap: the least share of a window that the next one repeats.

    Returns:
        Ascending, the first 0; the last window ends with the text.
    """
    rest = max(0, n_pieces - room)
    steps = -(-rest // max(1, int(room * (1 - overlap))))
    return np.arange(steps + 1) * rest // max(1, steps)


def best_windows(starts: NDArray[np.int64], room: int, pieces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose the window of each mention: where the smaller one of its two contexts is largest, which is where
    the centres of both are nearest; the first of two that are equal.

    Args:
        starts: of the windows, ascending.
        room: pieces of a window.
        pieces: (n, 2), first piece of each mention in its text, and end.

    Returns:
        (n, 3), number of the window, first piece in it, and end.
    """
    first, end = pieces[:, 0], pieces[:, 1]
    ideal = first + end - room  # twice the start of a window around the mention
    after = np.searchsorted(2 * starts, ideal).clip(1, max(1, len(starts) - 1))
    before = after - 1
    after = np.minimum(after, len(starts) - 1)
    best = np.where(2 * starts[after] - ideal < ideal - 2 * starts[before], after, before)
    cut = (starts[best] > first) | (starts[best] + room < end)
    # no window holds all of it: the last one that holds its start
    best[cut] = np.searchsorted(starts, first[cut], side="right") - 1
    first = first - starts[best]
    return np.stack([best, first, np.minimum(end - starts[best], room)], axis=1)


def _piece_spans(offsets: NDArray[np.int64], characters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which pieces have characters of each mention?

    Args:
        offsets: (pieces, 2), characters of each piece, start and end; both ascending.
        characters: (n, 2), of the mentions.

    Returns:
        (n, 2), first piece and end; equal where no piece has any of them.
    """
    first = np.searchsorted(offsets[:, 1], characters[:, 0], side="right")
    end = np.searchsorted(offsets[:, 0], characters[:, 1], side="left")
    return np.stack([first, np.maximum(first, end)], axis=1)

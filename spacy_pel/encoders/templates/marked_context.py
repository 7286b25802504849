"""The mention side's text: a mention between markers, in its context."""

from collections.abc import Sequence
from typing import Any

from ...errors import Errors, PelError
from ...registry import registry
from ...types import MentionInText
from .token_arrays import RaggedTokens, piece_lists

# No word piece of an English text is longer than this on average over a window; a wider
# character window only costs time, a narrower one would cut context that fits.
_CHARACTERS_PER_PIECE = 12


@registry.pel_templates("spacy-pel.MarkedContext.v1")
class MarkedContext:
    """``[CLS] left context [M_s] mention [M_e] right context [SEP]`` (Wiatrak et al. 2022, Appendix A).

    The context is cut evenly on both sides; what one side does not need goes to the other.
    The mention is never cut unless it alone exceeds the limit; then its end is cut.

    Args:
        max_length: word pieces in all, special tokens included.
        start_marker, end_marker: special tokens, added to the tokenizer's vocabulary.
    """

    registered_name = "spacy-pel.MarkedContext.v1"
    has_markers = True

    def __init__(self, *, max_length: int = 128, start_marker: str = "[M_s]", end_marker: str = "[M_e]"):
        if max_length < 8:
            raise PelError(Errors.E301.format(name="max_length", least=8, value=max_length))
        self.max_length = max_length
        self.start_marker = start_marker
        self.end_marker = end_marker

    @property
    def settings(self) -> dict[str, Any]:
        return {"max_length": self.max_length, "start_marker": self.start_marker, "end_marker": self.end_marker}

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

"""Base class of the two encoders that ``index`` wraps around another."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import Self

from ..types import Encoder, Entity, MentionInText, Vectors

Encode = Callable[..., Vectors]


class RowEncoder(ABC):
    """Passes everything on to an encoder, but the rows of an index go through ``encode_rows``.

    Args:
        encoder: computes the vectors.
    """

    def __init__(self, encoder: Encoder):
        self._encoder = encoder

    @abstractmethod
    def encode_rows(self, kind: str, items: Sequence[Any], encode: Encode, show_progress: bool) -> Vectors:
        """Get the vectors of rows.

        Args:
            kind: card, alias or mention.
            items: what the rows stand for: entities, names or mentions.
            encode: computes the vectors of such items.
            show_progress: show a progress bar.

        Returns:
            (n, width).
        """

    @property
    def width(self) -> int:
        return self._encoder.width

    @property
    def fingerprint(self) -> str:
        return self._encoder.fingerprint

    def initialize(self) -> None:
        """Load or draw the weights of the encoder."""
        self._encoder.initialize()

    def encode_mentions(self, mentions: Sequence[MentionInText], *, show_progress: bool = False) -> Vectors:
        """(n, width), queries, as the encoder computes them."""
        return self._encoder.encode_mentions(mentions, show_progress=show_progress)

    def encode_mention_rows(self, mentions: Sequence[MentionInText], *, show_progress: bool = False) -> Vectors:
        """(n, width), rows of mentions."""
        return self.encode_rows("mention", mentions, self._encoder.encode_mention_rows, show_progress)

    def encode_entities(self, entities: Sequence[Entity], *, show_progress: bool = False) -> Vectors:
        """(n, width), rows of cards."""
        return self.encode_rows("card", entities, self._encoder.encode_entities, show_progress)

    def encode_names(self, names: Sequence[str], *, show_progress: bool = False) -> Vectors:
        """(n, width), rows of names."""
        return self.encode_rows("alias", names, self._encoder.encode_names, show_progress)

    def __getattr__(self, name: str) -> Any:
        # an encoder may read whole texts, too; they are few
        if name == "encode_texts":
            return self._encoder.encode_texts  # type: ignore[attr-defined]
        raise AttributeError(name)

    def to_disk(self, path: Path) -> None:
        """Save the encoder."""
        self._encoder.to_disk(path)

    def from_disk(self, path: Path) -> Self:
        """Load the encoder."""
        self._encoder.from_disk(path)
        return self

"""Templates: the interfaces that an encoder expects, and what the cards share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from ...errors import Errors, PelError
from ...types import Entity, MentionInText
from .mention_windows import MentionTokens
from .token_arrays import RaggedTokens, piece_lists


@runtime_checkable
class MentionTemplate(Protocol):
    """Turns mentions in their texts into word pieces. ``max_length`` limits what is read at a time; a copy
    with another one is made from the other ``settings``.

    Attributes:
        has_markers: each mention has a sequence of its own, and ``special_tokens`` are the two markers
            around it; else mentions of one text share its windows and there are no special tokens.
    """

    registered_name: str
    max_length: int
    has_markers: bool

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def special_tokens(self) -> list[str]: ...

    def tokenize(self, tokenizer: Any, mentions: Sequence[MentionInText]) -> MentionTokens: ...


@runtime_checkable
class EntityTemplate(Protocol):
    """Turns entities, and single names of them, into word pieces."""

    registered_name: str

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def special_tokens(self) -> list[str]: ...  # that tokenizer and embedding matrix must hold

    def tokenize(self, tokenizer: Any, entities: Sequence[Entity]) -> RaggedTokens: ...

    def tokenize_names(self, tokenizer: Any, names: Sequence[str]) -> RaggedTokens: ...


def cut_end(sequence: list[int], max_length: int, end: int) -> list[int]:
    """At most max_length pieces of the sequence, ``end`` the last of them."""
    return sequence if len(sequence) <= max_length else [*sequence[: max_length - 1], end]


class CardBase(ABC):
    """``[CLS] part [SEP] part [SEP] …``; a subclass defines the ``parts`` of an entity.

    Args:
        max_length: word pieces in all, special tokens included; the end is cut.
    """

    registered_name: str
    separator: str | None = None  # token between two parts; None = [SEP]

    def __init__(self, *, max_length: int):
        if max_length < 8:
            raise PelError(Errors.E301.format(name="max_length", least=8, value=max_length))
        self.max_length = max_length

    @property
    def special_tokens(self) -> list[str]:
        """Tokens beyond the tokenizer's own, which tokenizer and model must have."""
        return [] if self.separator is None else [self.separator]

    def tokenize(self, tokenizer: Any, entities: Sequence[Entity]) -> RaggedTokens:
        """One sequence an entity, at most max_length long."""
        cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
        between = sep if self.separator is None else tokenizer.convert_tokens_to_ids(self.separator)
        parts = [self.parts(entity) for entity in entities]
        pieces = iter(piece_lists(tokenizer, [text for texts in parts for text in texts]))
        sequences = []
        for texts in parts:
            sequence = [cls]
            for _ in texts:
                sequence += [*next(pieces), between]
            sequence[-1] = sep
            sequences.append(cut_end(sequence, self.max_length, sep))
        return RaggedTokens.from_lists(sequences)

    @abstractmethod
    def parts(self, entity: Entity) -> list[str]:
        """Texts of an entity, none of them empty; the first is its name or type."""

    def tokenize_names(self, tokenizer: Any, names: Sequence[str]) -> RaggedTokens:
        """``[CLS] name [SEP]``: an alias as the text of its entity.

        Returns:
            One sequence a name, cut at its end.
        """
        cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
        pieces = piece_lists(tokenizer, names)
        return RaggedTokens.from_lists([cut_end([cls, *name, sep], self.max_length, sep) for name in pieces])

"""What the encoders read: templates that turn mentions and entities into word pieces. Mentions stand between markers
in their context, entities are cards with what a knowledge base says about them, or bare names."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from ..registry import registry
from ..types import Entity, MentionInText
from ..util.config import PartSettings, check_range
from ..util.console import words_around
from .token_arrays import RaggedTokens, piece_lists

# No word piece of an English text is longer than this on average over a window; a wider
# character window only costs time, a narrower one would cut context that fits.
_CHARACTERS_PER_PIECE = 12


class _Template(Protocol):
    registered_name: ClassVar[str]

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def special_tokens(self) -> list[str]: ...  # that tokenizer and embedding matrix must hold


@runtime_checkable
class MentionTemplate(_Template, Protocol):
    """Turns mentions in their texts into word pieces. ``max_length`` limits what is read at a time; a copy
    with another one is made from the other ``settings``. ``special_tokens`` are the two markers around a mention."""

    max_length: int

    def tokenize(self, tokenizer: Any, mentions: Sequence[MentionInText]) -> RaggedTokens: ...


@runtime_checkable
class EntityTemplate(_Template, Protocol):
    """Turns entities, and single names of them, into word pieces."""

    def tokenize(self, tokenizer: Any, entities: Sequence[Entity]) -> RaggedTokens: ...

    def tokenize_names(self, tokenizer: Any, names: Sequence[str]) -> RaggedTokens: ...


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
    max_length: int = 128
    start_marker: str = "[M_s]"
    end_marker: str = "[M_e]"

    def __post_init__(self) -> None:
        check_range("max_length", self.max_length, least=8)

    @property
    def special_tokens(self) -> list[str]:
        """Tokens the tokenizer and the embedding matrix must hold."""
        return [self.start_marker, self.end_marker]

    def tokenize(self, tokenizer: Any, mentions: Sequence[MentionInText]) -> RaggedTokens:
        """One sequence a mention, at most max_length long."""
        reach = self.max_length * _CHARACTERS_PER_PIECE
        windows = [words_around(*mention, reach) for mention in mentions]
        lefts = [text[left:start] for (text, start, _), (left, _) in zip(mentions, windows, strict=True)]
        surfaces = [mention.surface[: 4 * reach] for mention in mentions]
        rights = [text[end:right] for (text, _, end), (_, right) in zip(mentions, windows, strict=True)]
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


@dataclass(kw_only=True, eq=False)
class CardBase(PartSettings, ABC):
    """``[CLS] part [SEP] part [SEP] …``; a subclass defines the ``parts`` of an entity.

    Args:
        max_length: word pieces in all, special tokens included; the end is cut.
    """

    registered_name: ClassVar[str]
    max_length: int = 128

    def __post_init__(self) -> None:
        check_range("max_length", self.max_length, least=8)

    @property
    def separator(self) -> str | None:
        """The token between two parts; None = [SEP]."""
        return None

    @property
    def special_tokens(self) -> list[str]:
        """Tokens beyond the tokenizer's own, which tokenizer and model must have."""
        return [] if self.separator is None else [self.separator]

    def tokenize(self, tokenizer: Any, entities: Sequence[Entity]) -> RaggedTokens:
        """One sequence an entity, at most max_length long."""
        return self._tokenized(tokenizer, [self.parts(entity) for entity in entities])

    def _tokenized(self, tokenizer: Any, parts: Sequence[list[str]]) -> RaggedTokens:
        cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
        between = sep if self.separator is None else tokenizer.convert_tokens_to_ids(self.separator)
        pieces = iter(piece_lists(tokenizer, [text for texts in parts for text in texts]))
        sequences = []
        for texts in parts:
            sequence = [cls]
            for _ in texts:
                sequence += [*next(pieces), between]
            sequences.append([*sequence[:-1][: self.max_length - 1], sep])
        return RaggedTokens.from_lists(sequences)

    @abstractmethod
    def parts(self, entity: Entity) -> list[str]:
        """Texts of an entity, none of them empty; the first is its name or type."""

    def tokenize_names(self, tokenizer: Any, names: Sequence[str]) -> RaggedTokens:
        """``[CLS] name [SEP]``: an alias as the text of its entity.

        Returns:
            One sequence a name, cut at its end.
        """
        return self._tokenized(tokenizer, [[name] for name in names])


@registry.pel_templates("spacy-pel.EntityCard.v1")
@dataclass(kw_only=True, eq=False)
class EntityCard(CardBase):
    """``[CLS] title [SEP] types [SEP] description [SEP]`` (Wiatrak et al. 2022, Appendix A, for MedMentions).

    An entity without a definition is described by its synonyms, joined by ";". An empty
    part is left out together with its [SEP].

    Args:
        max_length: word pieces in all, special tokens included; the end is cut.
        max_synonyms: at most this many synonyms where there is no definition.
    """

    registered_name: ClassVar[str] = "spacy-pel.EntityCard.v1"
    max_synonyms: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("max_synonyms", self.max_synonyms, least=0)

    def parts(self, entity: Entity) -> list[str]:
        description = entity.definition or "; ".join(
            [alias for alias in entity.aliases if alias != entity.canonical_name][: self.max_synonyms]
        )
        # avoids tokenising thousands of characters that would be cut
        texts = [entity.canonical_name, ", ".join(entity.types), description[: 16 * self.max_length]]
        return [text for text in texts if text]


@registry.pel_templates("spacy-pel.GeneralCard.v1")
@dataclass(kw_only=True, eq=False)
class GeneralCard(CardBase):
    """``[CLS] title [ENT] description [SEP]`` (Wiatrak et al. 2022, Appendix A, the form for ZESHEL;
    Cai et al. 2023, section 3.2). Without a definition: ``[CLS] title [SEP]``.

    Args:
        max_length: word pieces in all, special tokens included; the end is cut.
        entity_marker: a special token, added to the tokenizer's vocabulary.
    """

    registered_name: ClassVar[str] = "spacy-pel.GeneralCard.v1"
    entity_marker: str = "[ENT]"

    @property
    def separator(self) -> str:
        return self.entity_marker

    def parts(self, entity: Entity) -> list[str]:
        # avoids tokenising thousands of characters that would be cut
        description = (entity.definition or "").strip()[: 16 * self.max_length]
        return [entity.canonical_name, description] if description else [entity.canonical_name]

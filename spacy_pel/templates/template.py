"""What the entity side's templates are to an encoder, and what their texts share."""

from typing import Any, Dict, List, Protocol, Sequence, runtime_checkable

from ..types import Entity
from .token_arrays import RaggedTokens, piece_lists


@runtime_checkable
class EntityTemplate(Protocol):
    """Turns entities, and single names of them, into word pieces."""

    registered_name: str

    @property
    def settings(self) -> Dict[str, Any]: ...

    @property
    def special_tokens(self) -> List[str]: ...  # that tokenizer and embedding matrix must hold

    def tokenize(self, tokenizer: Any, entities: Sequence[Entity]) -> RaggedTokens: ...

    def tokenize_names(self, tokenizer: Any, names: Sequence[str]) -> RaggedTokens: ...


def cut_end(sequence: List[int], max_length: int, end: int) -> List[int]:
    """RETURNS (List[int]): at most max_length pieces of the sequence, ``end`` the last of them."""
    return sequence if len(sequence) <= max_length else [*sequence[: max_length - 1], end]


def name_tokens(tokenizer: Any, names: Sequence[str], max_length: int) -> RaggedTokens:
    """RETURNS (RaggedTokens): ``[CLS] name [SEP]`` for each name, cut at its end."""
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    pieces = piece_lists(tokenizer, names)
    return RaggedTokens.from_lists([cut_end([cls, *name, sep], max_length, sep) for name in pieces])

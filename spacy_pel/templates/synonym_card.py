"""The entity side's text as a list of its names."""

from typing import Any, Dict, List, Sequence

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Entity
from .template import cut_end, name_tokens
from .token_arrays import RaggedTokens, piece_lists


@registry.pel_templates("spacy-pel.SynonymCard.v1")
class SynonymCard:
    """``[CLS] type [SEP] syn_1 [SEP] syn_2 … [SEP]`` (Le & Nguyen 2023, dual-encoder re-ranker).

    syn_1 is the canonical name. Several types are joined by ","; an entity without a type
    begins with its name. The definition is not read.

    max_length (int): word pieces in all, special tokens included; the end is cut.
    max_synonyms (int): at most this many names, including the canonical one.
    """

    registered_name = "spacy-pel.SynonymCard.v1"

    def __init__(self, *, max_length: int = 128, max_synonyms: int = 32):
        for name, value, least in (("max_length", max_length, 8), ("max_synonyms", max_synonyms, 1)):
            if value < least:
                raise PelError(Errors.E301.format(name=name, least=least, value=value))
        self.max_length = max_length
        self.max_synonyms = max_synonyms

    @property
    def settings(self) -> Dict[str, Any]:
        return {"max_length": self.max_length, "max_synonyms": self.max_synonyms}

    @property
    def special_tokens(self) -> List[str]:
        """RETURNS (List[str]): none beyond the tokenizer's own."""
        return []

    def tokenize(self, tokenizer: Any, entities: Sequence[Entity]) -> RaggedTokens:
        """RETURNS (RaggedTokens): one sequence an entity, at most max_length long."""
        cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
        parts = [self._parts(entity) for entity in entities]
        pieces = iter(piece_lists(tokenizer, [text for texts in parts for text in texts]))
        sequences = []
        for texts in parts:
            sequence = [cls]
            for _ in texts:
                sequence += [*next(pieces), sep]
            sequences.append(cut_end(sequence, self.max_length, sep))
        return RaggedTokens.from_lists(sequences)

    def tokenize_names(self, tokenizer: Any, names: Sequence[str]) -> RaggedTokens:
        """``[CLS] name [SEP]``: an alias as the text of its entity.

        RETURNS (RaggedTokens): one sequence a name.
        """
        return name_tokens(tokenizer, names, self.max_length)

    def _parts(self, entity: Entity) -> List[str]:
        names = list(dict.fromkeys([entity.canonical_name, *entity.aliases]))[: self.max_synonyms]
        return [text for text in [", ".join(entity.types), *names] if text]

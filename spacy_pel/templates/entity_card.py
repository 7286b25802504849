"""The entity side's text: name, types, and what describes the concept."""

from typing import Any, Dict, List, Sequence

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Entity
from .template import cut_end, name_tokens
from .token_arrays import RaggedTokens, piece_lists


@registry.pel_templates("spacy-pel.EntityCard.v1")
class EntityCard:
    """``[CLS] title [SEP] types [SEP] description [SEP]`` (Wiatrak et al. 2022, section 3, biomedical form).

    An entity without a definition is described by its synonyms, joined by ";". An empty
    part is left out together with its [SEP].

    max_length (int): word pieces in all, special tokens included; the end is cut.
    max_synonyms (int): at most this many synonyms where there is no definition.
    """

    registered_name = "spacy-pel.EntityCard.v1"

    def __init__(self, *, max_length: int = 128, max_synonyms: int = 8):
        if max_length < 8:
            raise PelError(Errors.E301.format(name="max_length", least=8, value=max_length))
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
        parts = [self._parts(entity) for entity in entities]
        pieces = iter(piece_lists(tokenizer, [text for texts in parts for text in texts]))
        sequences = []
        for texts in parts:
            sequence = [tokenizer.cls_token_id]
            for _ in texts:
                sequence += [*next(pieces), tokenizer.sep_token_id]
            sequences.append(cut_end(sequence, self.max_length, tokenizer.sep_token_id))
        return RaggedTokens.from_lists(sequences)

    def tokenize_names(self, tokenizer: Any, names: Sequence[str]) -> RaggedTokens:
        """``[CLS] name [SEP]``: an alias as the text of its entity.

        RETURNS (RaggedTokens): one sequence a name.
        """
        return name_tokens(tokenizer, names, self.max_length)

    def _parts(self, entity: Entity) -> List[str]:
        description = entity.definition or "; ".join(
            [alias for alias in entity.aliases if alias != entity.canonical_name][: self.max_synonyms]
        )
        # a definition of many thousand characters would be tokenised only to be cut
        texts = [entity.canonical_name, ", ".join(entity.types), description[: 16 * self.max_length]]
        return [text for text in texts if text]

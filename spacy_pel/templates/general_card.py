"""The entity side's text in the general domain: title and description."""

from typing import Any, Dict, List, Sequence

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Entity
from .template import cut_end, name_tokens
from .token_arrays import RaggedTokens, piece_lists


@registry.pel_templates("spacy-pel.GeneralCard.v1")
class GeneralCard:
    """``[CLS] title [ENT] description [SEP]`` (Wiatrak et al. 2022, section 3, general form, that of
    BLINK, Wu et al. 2020). Without a definition: ``[CLS] title [SEP]``.

    max_length (int): word pieces in all, special tokens included; the end is cut.
    entity_marker (str): a special token, added to the tokenizer's vocabulary.
    """

    registered_name = "spacy-pel.GeneralCard.v1"

    def __init__(self, *, max_length: int = 128, entity_marker: str = "[ENT]"):
        if max_length < 8:
            raise PelError(Errors.E301.format(name="max_length", least=8, value=max_length))
        self.max_length = max_length
        self.entity_marker = entity_marker

    @property
    def settings(self) -> Dict[str, Any]:
        return {"max_length": self.max_length, "entity_marker": self.entity_marker}

    @property
    def special_tokens(self) -> List[str]:
        """RETURNS (List[str]): tokens the tokenizer and the embedding matrix must hold."""
        return [self.entity_marker]

    def tokenize(self, tokenizer: Any, entities: Sequence[Entity]) -> RaggedTokens:
        """RETURNS (RaggedTokens): one sequence an entity, at most max_length long."""
        cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
        marker = tokenizer.convert_tokens_to_ids(self.entity_marker)
        titles = piece_lists(tokenizer, [entity.canonical_name for entity in entities])
        # a definition of many thousand characters would be tokenised only to be cut
        texts = piece_lists(
            tokenizer, [(entity.definition or "")[: 16 * self.max_length] for entity in entities]
        )
        sequences = []
        for title, text in zip(titles, texts, strict=True):
            sequence = [cls, *title, *([marker, *text] if text else []), sep]
            sequences.append(cut_end(sequence, self.max_length, sep))
        return RaggedTokens.from_lists(sequences)

    def tokenize_names(self, tokenizer: Any, names: Sequence[str]) -> RaggedTokens:
        """``[CLS] name [SEP]``: an alias as the text of its entity.

        RETURNS (RaggedTokens): one sequence a name.
        """
        return name_tokens(tokenizer, names, self.max_length)

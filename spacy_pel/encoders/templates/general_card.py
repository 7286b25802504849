"""The entity side's text in the general domain: title and description."""

from typing import Any

from ...registry import registry
from ...types import Entity
from .template import CardBase


@registry.pel_templates("spacy-pel.GeneralCard.v1")
class GeneralCard(CardBase):
    """``[CLS] title [ENT] description [SEP]`` (Wiatrak et al. 2022, Appendix A, the form for ZESHEL;
    Cai et al. 2023, section 3.2). Without a definition: ``[CLS] title [SEP]``.

    Args:
        max_length: word pieces in all, special tokens included; the end is cut.
        entity_marker: a special token, added to the tokenizer's vocabulary.
    """

    registered_name = "spacy-pel.GeneralCard.v1"

    def __init__(self, *, max_length: int = 128, entity_marker: str = "[ENT]"):
        super().__init__(max_length=max_length)
        self.entity_marker = self.separator = entity_marker

    @property
    def settings(self) -> dict[str, Any]:
        return {"max_length": self.max_length, "entity_marker": self.entity_marker}

    def parts(self, entity: Entity) -> list[str]:
        # avoids tokenising thousands of characters that would be cut
        description = (entity.definition or "").strip()[: 16 * self.max_length]
        return [entity.canonical_name, description] if description else [entity.canonical_name]

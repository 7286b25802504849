"""The entity side's text: name, types, and what describes the concept."""

from typing import Any

from ...registry import registry
from ...types import Entity
from .template import CardBase


@registry.pel_templates("spacy-pel.EntityCard.v1")
class EntityCard(CardBase):
    """``[CLS] title [SEP] types [SEP] description [SEP]`` (Wiatrak et al. 2022, Appendix A, for MedMentions).

    An entity without a definition is described by its synonyms, joined by ";". An empty
    part is left out together with its [SEP].

    Args:
        max_length: word pieces in all, special tokens included; the end is cut.
        max_synonyms: at most this many synonyms where there is no definition.
    """

    registered_name = "spacy-pel.EntityCard.v1"

    def __init__(self, *, max_length: int = 128, max_synonyms: int = 8):
        super().__init__(max_length=max_length)
        self.max_synonyms = max_synonyms

    @property
    def settings(self) -> dict[str, Any]:
        return {"max_length": self.max_length, "max_synonyms": self.max_synonyms}

    def parts(self, entity: Entity) -> list[str]:
        description = entity.definition or "; ".join(
            [alias for alias in entity.aliases if alias != entity.canonical_name][: self.max_synonyms]
        )
        # avoids tokenising thousands of characters that would be cut
        texts = [entity.canonical_name, ", ".join(entity.types), description[: 16 * self.max_length]]
        return [text for text in texts if text]

"""The entity side's text as a list of its names."""

from typing import Any

from ...errors import Errors, PelError
from ...registry import registry
from ...types import Entity
from .template import CardBase


@registry.pel_templates("spacy-pel.SynonymCard.v1")
class SynonymCard(CardBase):
    """``[CLS] type [SEP] syn_1 [SEP] syn_2 … [SEP]`` (Le & Nguyen 2023, dual-encoder re-ranker).

    syn_1 is the canonical name. Several types are joined by ","; an entity without a type
    begins with its name. The definition is not read.

    Args:
        max_length: word pieces in all, special tokens included; the end is cut.
        max_synonyms: at most this many names, including the canonical one.
    """

    registered_name = "spacy-pel.SynonymCard.v1"

    def __init__(self, *, max_length: int = 128, max_synonyms: int = 32):
        super().__init__(max_length=max_length)
        if max_synonyms < 1:
            raise PelError(Errors.E301.format(name="max_synonyms", least=1, value=max_synonyms))
        self.max_synonyms = max_synonyms

    @property
    def settings(self) -> dict[str, Any]:
        return {"max_length": self.max_length, "max_synonyms": self.max_synonyms}

    def parts(self, entity: Entity) -> list[str]:
        names = list(dict.fromkeys([entity.canonical_name, *entity.aliases]))[: self.max_synonyms]
        return [text for text in [", ".join(entity.types), *names] if text]

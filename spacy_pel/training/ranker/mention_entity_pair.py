"""What a cross-encoder reads: a mention in its context, followed by an entity."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...encoders.templates import EntityCard, MarkedContext
from ...encoders.token_arrays import RaggedTokens
from ...registry import registry
from ...types import Entity, MentionInText, Rows
from ...util.arrays import offsets_of
from ...util.config import check_range

_LEAST = 8  # word pieces that an entity must have


class MentionEntityPair:
    """``[mention input ; entity input]`` (Wiatrak et al. 2022, Appendix B):
    ``[CLS] left context [M_s] mention [M_e] right context [SEP] title [SEP] types [SEP] description [SEP]``.

    The mention is cut as its own template cuts it, the entity to what remains. Segment 1
    begins after the first [SEP].

    Args:
        max_length: word pieces in all, special tokens included.
        mention_template: a template of mentions; None = a MarkedContext of half the length.
        entity_template: a template of entities; None = an EntityCard of the whole length.

    Raises:
        PelError: if the mention leaves no room for an entity.
    """

    def __init__(self, *, max_length: int = 256, mention_template: Any = None, entity_template: Any = None):
        self.mention_template = mention_template or MarkedContext(max_length=max(8, max_length // 2))
        self.entity_template = entity_template or EntityCard(max_length=max_length)
        check_range("max_length", max_length, least=self.mention_template.max_length + _LEAST)
        self.max_length = max_length

    @property
    def settings(self) -> dict[str, Any]:
        """As JSON; a template within is its registered name and its settings."""
        parts = {"mention_template": self.mention_template, "entity_template": self.entity_template}
        shown = {key: [part.registered_name, part.settings] for key, part in parts.items()}
        return {"max_length": self.max_length, **shown}

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> "MentionEntityPair":
        """With what ``settings`` gave."""
        parts = {
            key: registry.pel_templates.get(settings[key][0])(**settings[key][1])
            for key in ("mention_template", "entity_template")
        }
        return cls(max_length=settings["max_length"], **parts)

    @property
    def special_tokens(self) -> list[str]:
        """Tokens the tokenizer and the embedding matrix must hold."""
        both = self.mention_template.special_tokens + self.entity_template.special_tokens
        return list(dict.fromkeys(both))

    def tokenize(
        self,
        tokenizer: Any,
        mentions: Sequence[MentionInText],
        entities: Sequence[Entity],
        mention_rows: Rows,
        entity_rows: Rows,
    ) -> RaggedTokens:
        """Tokenise pairs; each mention and each entity is tokenised once.

        Args:
            mention_rows, entity_rows: (m,) pair j is mention ``mention_rows[j]``
                with entity ``entity_rows[j]``.

        Returns:
            m sequences, at most max_length long.
        """
        of_mentions = self.mention_template.tokenize(tokenizer, mentions)
        of_entities = self.entity_template.tokenize(tokenizer, entities)
        return self.join(of_mentions, of_entities, mention_rows, entity_rows)

    def join(
        self, mentions: RaggedTokens, entities: RaggedTokens, mention_rows: Rows, entity_rows: Rows
    ) -> RaggedTokens:
        """Join what is tokenised already: the mention's sequence and the entity's without its [CLS].

        Args:
            mention_rows, entity_rows: (m,) what each pair is made of.

        Returns:
            m sequences; one that was cut ends with [SEP] all the same.
        """
        pairs = zip(mention_rows.tolist(), entity_rows.tolist(), strict=True)
        sequences = [np.concatenate([mentions[mention], entities[entity][1:]]) for mention, entity in pairs]
        for number, sequence in enumerate(sequences):
            if len(sequence) > self.max_length:
                sequences[number] = np.append(sequence[: self.max_length - 1], sequence[-1])
        offsets = offsets_of(np.array([len(sequence) for sequence in sequences], dtype=np.int64))
        return RaggedTokens(np.concatenate([np.empty(0, np.int32), *sequences]), offsets)

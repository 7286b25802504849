"""What the encoders read: templates that turn mentions and entities into word pieces."""

from .entity_card import EntityCard
from .general_card import GeneralCard
from .marked_context import MarkedContext
from .mention_entity_pair import MentionEntityPair
from .synonym_card import SynonymCard
from .template import EntityTemplate
from .token_arrays import RaggedTokens

__all__ = [
    "EntityCard",
    "EntityTemplate",
    "GeneralCard",
    "MarkedContext",
    "MentionEntityPair",
    "RaggedTokens",
    "SynonymCard",
]

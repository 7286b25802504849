"""What the encoders read: templates that turn mentions and entities into word pieces."""

from .entity_card import EntityCard
from .general_card import GeneralCard
from .marked_context import MarkedContext
from .pair import MentionEntityPair
from .ragged import RaggedTokens
from .synonym_card import SynonymCard
from .template import EntityTemplate

__all__ = [
    "EntityCard",
    "EntityTemplate",
    "GeneralCard",
    "MarkedContext",
    "MentionEntityPair",
    "RaggedTokens",
    "SynonymCard",
]

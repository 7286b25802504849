"""What the encoders read: templates that turn mentions and entities into word pieces."""

from .document_windows import DocumentWindows
from .entity_card import EntityCard
from .general_card import GeneralCard
from .marked_context import MarkedContext
from .mention_entity_pair import MentionEntityPair
from .mention_windows import MentionTokens, MentionWindows, window_numbers
from .synonym_card import SynonymCard
from .template import EntityTemplate, MentionTemplate
from .token_arrays import RaggedTokens

__all__ = [
    "DocumentWindows",
    "EntityCard",
    "EntityTemplate",
    "GeneralCard",
    "MarkedContext",
    "MentionEntityPair",
    "MentionTemplate",
    "MentionTokens",
    "MentionWindows",
    "RaggedTokens",
    "SynonymCard",
    "window_numbers",
]

"""What the encoders read: templates that turn mentions and entities into word pieces."""

from .entity_card import EntityCard
from .marked_context import MarkedContext
from .ragged import RaggedTokens

__all__ = ["EntityCard", "MarkedContext", "RaggedTokens"]

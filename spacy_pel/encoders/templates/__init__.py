"""What the encoders read: templates that turn mentions and entities into word pieces."""

from .cards import EntityCard, EntityTemplate, GeneralCard, SynonymCard
from .mention_entity_pair import MentionEntityPair
from .mention_templates import DocumentWindows, MarkedContext, MentionTemplate
from .token_arrays import MentionTokens, MentionWindows, RaggedTokens, window_numbers

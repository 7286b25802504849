"""Similarities between the vectors of mentions and entities: ``similarity(mentions, entities) -> scores``."""

from .similarity import Similarity
from .token_vectors import Encoded, TokenVectors, join, take

__all__ = ["Encoded", "Similarity", "TokenVectors", "join", "take"]

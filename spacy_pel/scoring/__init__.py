"""Similarities between the vectors of mentions and entities: ``similarity(mentions, entities) -> scores``."""

from .similarity import Similarity

__all__ = ["Similarity"]

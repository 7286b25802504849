"""Similarities between the vectors of mentions and entities: ``similarity(mentions, entities) -> scores``."""

from .similarity import Encoded, Similarity, TokenVectors, each, join, take

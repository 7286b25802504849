"""Encoders: map mentions and entities into one vector space."""

from .loading import load_encoder

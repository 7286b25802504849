"""Encoders: map mentions and entities into one vector space."""

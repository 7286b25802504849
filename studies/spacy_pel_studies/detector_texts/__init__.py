"""Texts to train the detector of the default pipeline on: made up, abbreviated, and as people type."""

"""Generators of candidates: the first step of linking."""

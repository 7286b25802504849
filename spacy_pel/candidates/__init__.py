"""Candidate generators: the first step of linking."""

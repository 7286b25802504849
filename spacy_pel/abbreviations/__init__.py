"""Abbreviations: what texts define, and what an inventory of many texts counts."""

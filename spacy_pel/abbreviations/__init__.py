"""Abbreviations: what texts define, what an inventory of many texts counts, and what an undefined one may mean."""

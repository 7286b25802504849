"""Candidate generators that studies compare, and their recall."""

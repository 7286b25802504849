"""The research commands."""

"""Rankers: read a mention and its few best candidates together, and order these anew."""

from .loading import load_ranker

__all__ = ["load_ranker"]

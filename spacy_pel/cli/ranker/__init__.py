"""Commands for rankers."""

from . import add, train

__all__ = ["add", "train"]

"""Commands for candidate generators."""

from . import add, build, eval

__all__ = ["add", "build", "eval"]

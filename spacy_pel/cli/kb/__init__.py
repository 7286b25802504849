"""Commands that build, inspect and change knowledge bases."""

from . import add, build, diff, info, merge, sample, show

__all__ = ["add", "build", "diff", "info", "merge", "sample", "show"]

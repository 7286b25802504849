"""Commands that build, inspect and change knowledge bases."""

from . import add, build, diff, edits, info, merge, migrate, sample, show

__all__ = ["add", "build", "diff", "edits", "info", "merge", "migrate", "sample", "show"]

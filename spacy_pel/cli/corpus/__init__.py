"""Commands for annotated corpora."""

from . import folds, info, restore

__all__ = ["folds", "info", "restore"]

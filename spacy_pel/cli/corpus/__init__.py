"""Commands for annotated corpora."""

from . import info, restore

__all__ = ["info", "restore"]

from . import kb_merge
from ._app import main, pel_cli

__all__ = ["kb_merge", "main", "pel_cli"]

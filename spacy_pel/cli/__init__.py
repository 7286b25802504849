from . import kb_add, kb_build, kb_diff, kb_info, kb_merge, kb_show, train
from ._app import main, pel_cli

__all__ = ["kb_add", "kb_build", "kb_diff", "kb_info", "kb_merge", "kb_show", "main", "pel_cli", "train"]

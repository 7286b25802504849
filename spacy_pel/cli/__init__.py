from . import (
    calibrate,
    convert,
    debug,
    evaluate,
    index,
    kb_add,
    kb_build,
    kb_diff,
    kb_info,
    kb_merge,
    kb_show,
    link,
    train,
)
from ._app import main, pel_cli

__all__ = [
    "calibrate",
    "convert",
    "debug",
    "evaluate",
    "index",
    "kb_add",
    "kb_build",
    "kb_diff",
    "kb_info",
    "kb_merge",
    "kb_show",
    "link",
    "main",
    "pel_cli",
    "train",
]

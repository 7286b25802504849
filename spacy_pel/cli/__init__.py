"""The command line: one command per file, in folders named after their groups."""

from . import (
    calibrate,
    candidates,
    compare,
    convert,
    corpus,
    debug,
    demo,
    evaluate,
    index,
    kb,
    link,
    mine,
    quickstart,
    ranker,
    recode,
    report,
    train,
)
from ._app import main, pel_cli

__all__ = [
    "calibrate",
    "candidates",
    "compare",
    "convert",
    "corpus",
    "debug",
    "demo",
    "evaluate",
    "index",
    "kb",
    "link",
    "main",
    "mine",
    "pel_cli",
    "quickstart",
    "ranker",
    "recode",
    "report",
    "train",
]

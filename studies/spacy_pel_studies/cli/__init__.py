"""The commands ``spacy-pel research ...``."""

from . import default_nil, default_weights, gradients, map, margins, notes, okb, sample, study, sweep, worlds
from ._app import research_cli

__all__ = [
    "default_nil",
    "default_weights",
    "gradients",
    "map",
    "margins",
    "notes",
    "okb",
    "research_cli",
    "sample",
    "study",
    "sweep",
    "worlds",
]

"""Commands for knowledge bases."""

from . import build, inspect, change  # noqa: F401, I001  (in the order of --help)

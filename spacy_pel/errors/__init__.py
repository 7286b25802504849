"""All error and warning texts, a file for each group of codes: what was expected, what was found, what to do."""

from .pel_error import PelError
from .texts import Errors, Warnings

__all__ = ["Errors", "PelError", "Warnings"]

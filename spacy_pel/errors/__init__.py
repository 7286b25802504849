"""All error and warning texts, one file per group of codes: what was expected, what was found, what to do."""

from .pel_error import PelError, closest, did_you_mean, listed, one_line, quoted, shortened
from .texts import Errors, Warnings

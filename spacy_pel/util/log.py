"""The package's logger. Unless the application configures logging, Python shows its warnings on stderr."""

import logging
from contextlib import contextmanager
from typing import Iterator

logger = logging.getLogger("spacy_pel")  # without a NullHandler, which would hide them


@contextmanager
def without_warning(code: str) -> Iterator[None]:
    """Do not log one warning within this context, e.g. that something is missing which is about to be made.

    code (str): e.g. "W506".
    """

    def is_other(record: logging.LogRecord) -> bool:
        return f"[PEL-{code}]" not in record.getMessage()

    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)

"""The package's logger. Unless the application configures logging, Python shows its warnings on stderr."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger("spacy_pel")  # without a NullHandler, which would hide them


@contextmanager
def without_warnings(*codes: str) -> Iterator[None]:
    """Do not log some warnings within this context, e.g. that something is missing which is about to be made.

    Args:
        codes: e.g. "W506".
    """

    def is_other(record: logging.LogRecord) -> bool:
        return not any(f"[PEL-{code}]" in record.getMessage() for code in codes)

    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)

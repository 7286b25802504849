"""The package's logger, and the time that logs record."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone

logger = logging.getLogger("spacy_pel")  # without a NullHandler, which would hide its warnings
_EPOCH = "SOURCE_DATE_EPOCH"  # environment variable of reproducible builds: the time to write, in seconds


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


def now() -> str:
    """The time in UTC, to the second."""
    epoch = os.environ.get(_EPOCH, "")
    moment = datetime.fromtimestamp(int(epoch), timezone.utc) if epoch.isdigit() else datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

"""The time that logs record."""

import os
from datetime import datetime, timezone

_EPOCH = "SOURCE_DATE_EPOCH"  # environment variable of reproducible builds: the time to write, in seconds


def now() -> str:
    """The time in UTC, to the second."""
    given = os.environ.get(_EPOCH, "")
    moment = datetime.fromtimestamp(int(given), timezone.utc) if given.isdigit() else datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

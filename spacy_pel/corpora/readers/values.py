"""Values that a format gives in the wrong type: refused, not converted."""

from typing import Any

from ...errors import quoted


def whole_number(value: Any) -> int:
    """A number of characters or tokens, given as an integer or its digits.

    Raises:
        ValueError: if it is anything else, also for more digits than a text can have characters.
    """
    if isinstance(value, str) and len(value) < 16 and value.strip().isdecimal():
        return int(value)
    if type(value) is not int or abs(value) >= 10**15:
        raise ValueError(f"expected a whole number, got {quoted(value)}")
    return value


def id_text(value: Any) -> str:
    """An id, which may be given as an integer. RAISES (ValueError): if it is anything else."""
    if isinstance(value, str) or type(value) is int:
        return str(value)
    raise ValueError(f"expected an id, got {quoted(value)}")


def text_or_empty(value: Any) -> str:
    """A text; "" for None. RAISES (ValueError): if it is anything else."""
    if value is None or isinstance(value, str):
        return value or ""
    raise ValueError(f"expected text, got {quoted(value)}")

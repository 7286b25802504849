"""The values that a filter or a setting may have, for messages about one that matches nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping

from ..errors import closest, listed, quoted
from .semantic_types import type_name

_N_LISTED = 10


def listed_values(counts: Mapping[str, int]) -> str:
    """The most frequent values with their counts, and how many more there are.

    Args:
        counts: by value; "" = entities without one.
    """
    shown = [f"{shown_value(value)} ({count:,})" for value, count in Counter(counts).most_common(_N_LISTED)]
    return listed(shown, len(counts))


def shown_value(value: str) -> str:
    """A value in quotes; a semantic type with its name."""
    if not value:
        return "no type"
    return quoted(value) if type_name(value) == value else f"{value} {type_name(value)}"


def did_you_mean_value(text: str, known: Iterable[str]) -> str:
    """A question to append to a clause about an unknown value: the closest one, semantic types also by their names;
    empty if none is close, or the text is the id of a semantic type."""
    if type_name(text) != text:
        return ""
    by_form = {form: value for value in known if value for form in (type_name(value), value)}
    match = closest(text, by_form)
    return f" (did you mean {shown_value(by_form[match])}?)" if match else ""

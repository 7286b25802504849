"""Values in the JSON of an ontology, checked for their types: a string given for a list would be read as a
list of its letters."""

from typing import Any

from ....errors import quoted


def text_of(record: dict[str, Any], key: str) -> str:
    """The text of a key, "" if it is null or missing. RAISES (TypeError): if it is no text."""
    value = record.get(key)
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError(f"{quoted(value)} as {key}")


def texts_of(record: dict[str, Any], key: str) -> list[str]:
    """The texts of a key. RAISES (TypeError): if they are no list of texts."""
    value = record.get(key) or []
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value
    raise TypeError(f"{quoted(value)} as {key}")


def records_of(record: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a key. RAISES (TypeError): if they are no list of objects."""
    value = record.get(key) or []
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return value
    raise TypeError(f"{quoted(value)} as {key}")


def record_of(record: dict[str, Any], key: str) -> dict[str, Any]:
    """The object of a key. RAISES (TypeError): if it is no object."""
    value = record.get(key) or {}
    if isinstance(value, dict):
        return value
    raise TypeError(f"{quoted(value)} as {key}")

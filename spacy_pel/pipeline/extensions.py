"""Extension attributes with a form of their own, kept where spaCy keeps those that have a default."""

from collections.abc import Callable
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span

Owner = Doc | Span
Read = Callable[[Any, Any], Any]  # the Doc or Span, and what was set (None = nothing) -> the value


def declare(owner: Any, name: str, read: Read) -> None:
    """Declare an attribute, unless there is one of this name.

    Args:
        owner: Doc or Span.
        name: of the attribute.
        read: gives the value; a function of a module, as processes exchange it.
    """
    if not owner.has_extension(name):
        owner.set_extension(name, getter=partial(_get, name=name, read=read), setter=partial(_set, name=name))


def as_list(_: Owner, kept: Any) -> Any:
    """What was set; msgpack reads lists as tuples."""
    return kept if isinstance(kept, list) else list(kept or ())


def as_lists(_: Owner, kept: Any) -> Any:
    """As ``as_list``, for a list of lists."""
    return kept if isinstance(kept, list) else [list(one) for one in kept or ()]


def _get(owner: Owner, *, name: str, read: Read) -> Any:
    doc, key = _place(owner, name)
    return read(owner, doc.user_data.get(key))


def _set(owner: Owner, value: Any, *, name: str) -> None:
    doc, key = _place(owner, name)
    doc.user_data[key] = value


def _place(owner: Owner, name: str) -> tuple[Doc, Any]:
    if isinstance(owner, Doc):
        return owner, ("._.", name, None, None)
    return owner.doc, ("._.", name, owner.start_char, owner.end_char)

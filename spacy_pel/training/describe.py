"""A part's type and settings as text, for the fingerprint of a run."""

from typing import Any


def describe(part: Any) -> str:
    """A part's type and settings, including those of the parts in it."""
    text = type(part).__name__ + repr(sorted(_plain(part).items()))
    inner: list[Any] = [value for value in vars(part).values() if isinstance(value, dict)]
    return text + "".join(
        f"{name}={describe(each)}" for parts in inner for name, each in sorted(parts.items()) if hasattr(each, "sample")
    )


def _plain(part: Any) -> dict[str, Any]:
    """A part's settings: its public attributes of plain types. A setting that was added later is left
    out at its default, so that checkpoints from before it can still be resumed."""
    added = {"offset": 0.0, "squared": False, "schedule": True}
    return {
        key: value
        for key, value in vars(part).items()
        if isinstance(value, (int, float, str)) and key[0] != "_" and added.get(key) != value
    }

"""Settings on the command line: of a config, ``--section.key VALUE``, and of a part, ``--set NAME=VALUE``."""

import inspect
import json
import re
from typing import Any

from ..errors import Errors, PelError, did_you_mean, quoted
from ..util.parsing import JSON_ERRORS


def json_or_text(text: str) -> Any:
    """The value if it is JSON, the text itself otherwise."""
    try:
        return json.loads(text)
    except JSON_ERRORS:
        return text


_REASON = re.compile(", (?:unable to|got) .*")  # at the end of pydantic's messages, which our own repeats


def parse_settings(settings: list[str], *, exact: bool = True) -> dict[str, Any]:
    """Read the values of ``--set``.

    Args:
        settings: e.g. ["strip_prefix=MESH:", 'ontologies=["CL"]']; values are parsed as
            JSON, or kept as text if they are not JSON.
        exact: also keep numbers as text that would change as such, e.g. 1.10: for ``make_reader``, which turns
            them into numbers where these are expected.

    Returns:
        Values by name.

    Raises:
        PelError: for a value that does not have this form.
    """
    parsed: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise PelError(Errors.E211.format(got=setting))
        read = json_or_text(value)
        is_changed = exact and type(read) in (int, float) and str(read) != value
        parsed[name.replace("-", "_")] = value if is_changed else read
    return parsed


def split_names(names: str) -> list[str]:
    """Names that are separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


def make_reader(registry_name: str, reader: str, settings: dict[str, Any]) -> Any:
    """Create a registered reader (or another part) with checked settings.

    Args:
        registry_name: e.g. "pel_kb_readers".
        reader: its short or its full name.
        settings: by name.

    Returns:
        The part.

    Raises:
        PelError: if the reader, or a setting of it, is unknown, or a value has the wrong type.
    """
    import pydantic

    from ..registry import registry

    part = registry.resolve_short(registry_name, reader)
    known = inspect.signature(part).parameters
    unknown = sorted(settings.keys() - known.keys())
    if unknown:
        names, hint = ", ".join(known) or "none", did_you_mean(unknown[0], known)
        raise PelError(Errors.E208.format(reader=reader, got=", ".join(unknown), known=names, hint=hint))
    fields: Any = {name: (known[name].annotation, ...) for name in settings}
    read_as_number = pydantic.ConfigDict(coerce_numbers_to_str=True)  # --set delimiter=5 is text, too
    try:
        checked = pydantic.create_model("Settings", __config__=read_as_number, **fields)(**settings)
    except pydantic.ValidationError as err:
        fault = err.errors()[0]
        name, expected = str(fault["loc"][0]), _REASON.sub("", fault["msg"].removeprefix("Input should be "))
        got = quoted(settings[name])
        raise PelError(Errors.E209.format(expected=expected, name=name, reader=reader, got=got)) from err
    return part(**{name: getattr(checked, name) for name in settings})

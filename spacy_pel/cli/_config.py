"""Configs on the command line: ``--section.key value`` overrides."""

import json
from typing import Any

from ..errors import Errors, PelError
from ..util.parsing import JSON_ERRORS


def parse_overrides(args: list[str]) -> dict[str, Any]:
    """Read the overrides among a command's extra arguments (``ctx.args``).

    Args:
        args: e.g. ["--pel.training.max_epochs", "2", "--system.seed=1"]; values are
            parsed as JSON, or kept as text if they are not JSON.

    Returns:
        e.g. {"pel.training.max_epochs": 2, "system.seed": 1}.

    Raises:
        PelError: for an argument that does not have this form.
    """
    overrides: dict[str, Any] = {}
    rest = list(args)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("--") or "." not in name:
            raise PelError(Errors.E600.format(got=name))
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise PelError(Errors.E600.format(got=f"{name} without a value"))
            value = rest.pop(0)
        overrides[name[2:].replace("-", "_")] = json_or_text(value)
    return overrides


def json_or_text(text: str) -> Any:
    """The value if it is JSON, the text itself otherwise."""
    try:
        return json.loads(text)
    except JSON_ERRORS:
        return text

"""Configs on the command line: ``--section.key value`` overrides and readable errors."""

import json
from pathlib import Path
from typing import Any, Dict, List, Union

from ..errors import Errors, PelError


def parse_overrides(args: List[str]) -> Dict[str, Any]:
    """Read the overrides among a command's extra arguments (``ctx.args``).

    args (List[str]): e.g. ["--pel.training.max_epochs", "2", "--system.seed=1"]; values are
        read as JSON, and as text where they are not JSON.
    RETURNS (Dict[str, Any]): e.g. {"pel.training.max_epochs": 2, "system.seed": 1}.
    RAISES (PelError): at an argument that is not of this form.
    """
    overrides: Dict[str, Any] = {}
    rest = list(args)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("--") or "." not in name:
            raise PelError(Errors.E600.format(came=name))
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise PelError(Errors.E600.format(came=f"{name} without a value"))
            value = rest.pop(0)
        overrides[name[2:].replace("-", "_")] = _value(value)
    return overrides


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def load_config(path: Union[str, Path], overrides: Dict[str, Any]) -> Any:
    """Read a config file with its variables filled in.

    RETURNS (Config): thinc's Config.
    RAISES (PelError): if the file is missing, is no config, or an override names no section.
    """
    from spacy.util import load_config as spacy_load_config
    from thinc.api import ConfigValidationError

    if not Path(path).is_file():
        raise PelError(
            Errors.E002.format(
                expected="a config file",
                path=path,
                came="there is none",
                todo="Check the path; configs/ has examples.",
            )
        )
    try:
        return spacy_load_config(Path(path), overrides=overrides, interpolate=True)
    except ConfigValidationError as err:
        raise PelError(Errors.E601.format(path=path, came=describe_config_error(err))) from err
    except ValueError as err:  # E050 and friends, configparser's errors
        raise PelError(Errors.E601.format(path=path, came=str(err))) from err


def describe_config_error(err: Any) -> str:
    """RETURNS (str): one line for thinc's ConfigValidationError: section, key and reason."""
    reasons = [
        " -> ".join(str(part) for part in error.get("loc", ())) + f": {error.get('msg', '')}"
        for error in err.errors or ()
    ]
    return "; ".join(reasons) or err.desc or str(err)

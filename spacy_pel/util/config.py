"""Reading config files: one way for training and commands, and one line for each fault."""

from pathlib import Path
from typing import Any, Dict, Optional, Union

from ..errors import Errors, PelError


def load_config(path: Union[str, Path], overrides: Optional[Dict[str, Any]] = None) -> Any:
    """Read a config file with its variables filled in; nothing is built from it.

    path (Union[str, Path]): a file in spaCy's config format.
    overrides (Optional[Dict[str, Any]]): dotted names to values.
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
        return spacy_load_config(Path(path), overrides=overrides or {}, interpolate=True)
    except ConfigValidationError as err:
        raise PelError(Errors.E601.format(path=path, came=describe_config_error(err))) from err
    except ValueError as err:  # E050 and friends, configparser's errors
        raise PelError(Errors.E601.format(path=path, came=" ".join(str(err).split()))) from err


def describe_config_error(err: Any) -> str:
    """RETURNS (str): one line for thinc's ConfigValidationError: section, key and reason."""
    reasons = [
        " -> ".join(str(part) for part in error.get("loc", ())) + f": {error.get('msg', '')}"
        for error in err.errors or ()
    ]
    return " ".join(("; ".join(reasons) or err.desc or str(err)).split())

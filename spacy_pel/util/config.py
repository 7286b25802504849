"""Settings: config files, code of the user's own, the arguments of parts and the ranges of numbers."""

import operator
import re
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError, did_you_mean, shortened
from ..registry import registry
from .files import unexpected
from .parsing import check_unicode


def load_config(path: str | Path, overrides: dict[str, Any] | None = None) -> Any:
    """Read a config file with its variables filled in; nothing is built from it.

    Args:
        path: a file in spaCy's config format.
        overrides: dotted names to values. One may name a part that the file leaves
            out or has as null: "pel.encoder.backend.@pel_backends".

    Returns:
        Thinc's Config.

    Raises:
        PelError: if the file is missing or not a config, or an override names none of its sections.
    """
    from configparser import Error as ConfigParserError

    from spacy.util import load_config as spacy_load_config
    from spacy.util import walk_dict
    from thinc.api import Config, ConfigValidationError

    if not Path(path).is_file():
        raise unexpected(path, "a config file", "no file", "Check the path; configs/ has examples.")
    config: Any = {}
    try:
        config = spacy_load_config(Path(path), interpolate=not overrides)
        if overrides:
            for name in overrides:
                _make_room(config, name.split(".")[:-1])
            config = Config().from_str(config.to_str(interpolate=False), overrides=overrides)
    except ConfigValidationError as err:
        known = [".".join(keys) for keys, _ in walk_dict(config)]
        unknown = [name for name in overrides or {} if name.split(".")[0] not in config]
        hint = next(filter(None, (did_you_mean(name, known) for name in unknown)), "")
        raise PelError(Errors.E601.format(path=path, got=describe_config_error(err) + hint)) from err
    except (ValueError, ConfigParserError, TypeError, LookupError, RecursionError, OSError) as err:  # E050 and friends
        raise PelError(Errors.E601.format(path=path, got=" ".join(str(err).split()))) from err
    check_unicode(config, path)
    return config


def _make_room(config: Any, sections: Sequence[str]) -> None:
    """Add the sections below one that is there; a mistyped first name stays an error."""
    if not sections or not isinstance(config.get(sections[0]), dict):
        return
    for section in sections:
        if config.get(section) is None:
            config[section] = {}
        config = config[section]
        if not isinstance(config, dict):
            return


def describe_config_error(err: Any) -> str:
    """One line for thinc's ConfigValidationError: section, key and reason, and the known key that is nearest to one
    that is not; for catalogue's RegistryError its text. A suggestion helps more than the list of all names."""
    reasons = []
    for error in getattr(err, "errors", None) or ():
        keys, message = [str(part) for part in error.get("loc", ())], error.get("msg", "").removeprefix("at root: ")
        is_unknown = keys and "unexpected argument" in message and isinstance(err.config, dict)
        hint = did_you_mean(keys[-1], map(str, err.config)) if is_unknown else ""
        reasons.append(f"{' -> '.join(keys)}: {message}{hint}")
    text = " ".join(("; ".join(reasons) or getattr(err, "desc", "") or str(err)).split())
    hint = registry.did_you_mean(text)
    return re.split(" Available names:| If you're using", text)[0] + hint if hint else shortened(text, 400)


_HOLDS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
MANY = 1_000_000  # of anything that a setting counts; more would not fit in memory


def check_range(
    name: str,
    value: float | None,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> None:
    """Check a setting.

    Args:
        name: of the setting.
        value: NaN is outside every range; None is not checked.
        least, most: smallest and largest accepted value.
        above, below: the same, themselves not accepted.

    Raises:
        PelError: if the value is outside the range.
    """
    if value is None:
        return
    bounds = {">=": least, ">": above, "<=": most, "<": below}
    given = {sign: bound for sign, bound in bounds.items() if bound is not None}
    if not all(_HOLDS[sign](value, bound) for sign, bound in given.items()):
        wanted = " and ".join(f"{sign} {bound:,}" for sign, bound in given.items())
        raise PelError(Errors.E301.format(name=name, wanted=wanted, value=value))


class PartSettings:
    """A part that keeps the arguments of its constructor as attributes of the same names."""

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that determine what the part does, as JSON."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}


def import_code(paths: Iterable[str]) -> None:
    """Import Python files, as ``spacy train --code`` does.

    Raises:
        PelError: if a file is missing or cannot be imported.
    """
    from spacy.util import import_file

    for path in paths:
        if not Path(path).is_file():
            raise unexpected(path, "a Python file", "no file", "Give it as --code FILE.")
        try:
            import_file("python_code", path)
        except (Exception, SystemExit) as err:  # whatever the code raises
            place = line_in(path, err) or path
            raise PelError(Errors.E699.format(place=place, got=f"{type(err).__name__}: {err}")) from err


def line_in(path: str, err: BaseException) -> str | None:
    """Where in a file an exception came from, e.g. "loss.py, line 3"; None if from elsewhere."""
    lines = [frame.lineno for frame in traceback.extract_tb(err.__traceback__) if frame.filename == path]
    return f"{path}, line {lines[-1]}" if lines else None


@contextmanager
def known_language(lang: str, option: str = "lang") -> Iterator[None]:
    """Around what loads a language.

    Args:
        lang: its code, e.g. "en".
        option: where the code is from, for the error.

    Raises:
        PelError: if spaCy has no such language, or needs a package for it that is not installed.
    """
    try:
        yield
    except ImportError as err:
        raise PelError(Errors.E213.format(expected="a language code", got=lang, option=option)) from err

"""Settings as attributes that are checked whenever they are set, in a config or later."""

import math
from collections.abc import Callable, Collection, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..errors import Errors, PelError, quoted

Read = Callable[[Any], Any]


class _Setting:
    """Stores what it accepts in the component's ``__dict__``, from where it is read like any attribute:
    without ``__get__``, reading costs nothing.

    Args:
        expected: what it accepts, for the error.
        read: gives a value its usual form, and raises a TypeError if it is not accepted.
        in_linker: whether the component's linker has this setting, too.
    """

    def __init__(self, expected: str, read: Read, in_linker: bool) -> None:
        self.expected = expected
        self.read = read
        self.in_linker = in_linker
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __set__(self, component: Any, value: Any) -> None:
        try:
            read = self.read(value)
        except (TypeError, OverflowError) as err:  # the latter: an integer that no float can hold
            got = quoted(value)
            raise PelError(Errors.E507.format(name=self.name, expected=self.expected, got=got)) from err
        vars(component)[self.name] = read
        if self.in_linker and component._linker is not None:
            setattr(component._linker, self.name, read)


def setting(expected: str, read: Read, *, in_linker: bool = False) -> Any:
    """Declare a setting in the body of a component's class.

    Args:
        expected: what it accepts, for the error: "Expected NAME to be ...".
        read: one of the functions below.
        in_linker: whether the component's linker has this setting, too.

    Returns:
        A descriptor; to type checkers, a value of the setting's type.
    """
    return _Setting(expected, read, in_linker)


def optional(read: Read) -> Read:
    """Accepts None, too."""
    return lambda value: None if value is None else read(value)


def flag(value: Any) -> bool:
    """True or false. RAISES (TypeError): if it is something else."""
    return bool(_of((bool, np.bool_), value))


def text(value: Any) -> str:
    """The text. RAISES (TypeError): if it is something else."""
    return str(_of(str, value))


def count(most: int) -> Read:
    """Accepts whole numbers from 1 to ``most``."""
    return lambda value: int(_where(not isinstance(value, bool) and 1 <= _of(Integral, value) <= most, value))


def number(value: Any) -> float:
    """Any number. RAISES (TypeError): if it is something else."""
    return float(_where(not isinstance(value, bool) and not math.isnan(_of(Real, value)), value))


def share(value: Any) -> float:
    """Between 0 and 1. RAISES (TypeError): if it is something else."""
    return float(_where(0.0 < number(value) < 1.0, value))


def thresholds(value: Any) -> float | dict[str, float]:
    """A number, or one for each label.

    Raises:
        TypeError: if it is something else.
    """
    if isinstance(value, Mapping):
        return {text(label): number(one) for label, one in value.items()}
    return number(value)


def texts(value: Any) -> list[str]:
    """Several texts. RAISES (TypeError): if it is something else, or a single text."""
    return [text(one) for one in _where(not isinstance(value, (str, Mapping)), _of(Collection, value))]


def texts_of_labels(value: Any) -> dict[str, list[str]]:
    """Label -> texts. RAISES (TypeError): if it is something else."""
    return {text(label): texts(some) for label, some in _of(Mapping, value).items()}


def some_of(known: Collection[str]) -> Read:
    """Accepts several of these texts."""
    return lambda value: [_where(one in known, one) for one in texts(value)]


def _of(kind: Any, value: Any) -> Any:
    return _where(isinstance(value, kind), value)


def _where(is_accepted: bool, value: Any) -> Any:
    if not is_accepted:
        raise TypeError
    return value

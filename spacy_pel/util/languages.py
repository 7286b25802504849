"""The languages of spaCy."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import Errors, PelError


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

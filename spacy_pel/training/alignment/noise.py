"""Names as people write them: with typing errors, in another number or order, as initials."""

import string

import numpy as np

from .settings import NoiseSettings

_SHORTEST = 6  # letters of a name that is still known with a typing error
_WORDS = 3  # that initials stand for, at least


def noisy(name: str, settings: NoiseSettings, rng: np.random.Generator) -> str:
    """Change a name in one way, or leave it as it is.

    Args:
        name: of an entity.
        settings: shares of the changes; a change that does not apply leaves the name as it is.
        rng: draws the change, and its place.

    Returns:
        The name to read instead; never empty.
    """
    draw = rng.random()
    for change, share in (
        (_typo, settings.typo),
        (_inflection, settings.inflection),
        (_initials, settings.initials),
        (_inversion, settings.inversion),
        (_hyphen, settings.hyphen),
    ):
        if draw < share:
            return change(name, rng) or name
        draw -= share
    return name


def _typo(name: str, rng: np.random.Generator) -> str:
    if len(name) < _SHORTEST:
        return name
    place = int(rng.integers(1, len(name) - 1))
    kind = rng.integers(3)
    if kind == 0:
        return name[:place] + name[place + 1 :]
    if kind == 1:
        return name[:place] + name[place + 1] + name[place] + name[place + 2 :]
    return name[:place] + string.ascii_lowercase[rng.integers(26)] + name[place:]


def _inflection(name: str, rng: np.random.Generator) -> str:
    if name.endswith("s") and not name.endswith("ss"):
        return name[:-1]
    return f"{name}s" if name[-1:].isalpha() else name


def _initials(name: str, rng: np.random.Generator) -> str:
    words = name.replace("-", " ").split()
    if len(words) < _WORDS:
        return name
    return "".join(word[0] for word in words if word[0].isalnum()).upper()


def _inversion(name: str, rng: np.random.Generator) -> str:
    return " ".join(reversed(name.split(", ")))


def _hyphen(name: str, rng: np.random.Generator) -> str:
    return name.replace("-", " ").strip()

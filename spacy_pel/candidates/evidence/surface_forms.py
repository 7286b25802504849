"""The distinct surface forms of a batch of mentions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...util import normalize_alias
from .formulas import formula_names


class SurfaceForms(NamedTuple):
    """Normalised once for a batch: the alias map, the priors and spelling all read them.

    Attributes:
        distinct: normalised surface forms, each once, but once for each formula where capitals
            make another one of it: "CO", "Co".
        formulas: for each of them the names that it has as a formula, see formulas.py.
        which: (n,), the surface form of each mention.
    """

    distinct: list[str]
    formulas: list[tuple[str, ...]]
    which: NDArray[np.int64]

    @classmethod
    def of(cls, surfaces: Sequence[str]) -> "SurfaceForms":
        """Of mentions with these texts."""
        read = {surface: (normalize_alias(surface), formula_names(surface)) for surface in dict.fromkeys(surfaces)}
        numbers: dict[tuple[str, tuple[str, ...]], int] = {}
        which = [numbers.setdefault(read[surface], len(numbers)) for surface in surfaces]
        return cls([form for form, _ in numbers], [names for _, names in numbers], np.array(which, dtype=np.int64))

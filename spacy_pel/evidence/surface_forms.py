"""The distinct surface forms of a batch of mentions."""

from typing import Dict, List, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray

from ..util import normalize_alias


class SurfaceForms(NamedTuple):
    """Normalised once for a batch: the alias map, the priors and spelling all read them.

    distinct (List[str]): normalised surface forms, each once.
    which (NDArray[int64]): (n,), the surface form of each mention.
    """

    distinct: List[str]
    which: NDArray[np.int64]

    @classmethod
    def of(cls, surfaces: Sequence[str]) -> "SurfaceForms":
        """RETURNS (SurfaceForms): of mentions with these texts."""
        normal = {surface: normalize_alias(surface) for surface in dict.fromkeys(surfaces)}
        numbers: Dict[str, int] = {}
        which = [numbers.setdefault(normal[surface], len(numbers)) for surface in surfaces]
        return cls(list(numbers), np.array(which, dtype=np.int64))

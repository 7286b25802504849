"""Several samplers combined."""

from typing import Any

import numpy as np

from ...errors import Errors, PelError
from ...registry import registry
from ...util.config import check_range
from .draw import Draw, DrawRequest, NegativeSampler, as_sets


@registry.pel_negatives("spacy-pel.ComposedNegatives.v1")
class ComposedNegatives:
    """The union of what its parts draw; an entity that several parts draw counts once. For example,
    hard negatives of each mention together with many random ones that the batch shares.

    Args:
        parts: one or more samplers by any name, ``[pel.negatives.parts.NAME]`` in
            a config. They draw in the order of their names.
    """

    # Any: configs cannot check the values of a dict
    def __init__(self, parts: dict[str, Any]):
        check_range("number of parts", len(parts), least=1)
        for name, part in parts.items():
            if not isinstance(part, NegativeSampler):
                raise PelError(Errors.E322.format(name=name, got=type(part).__name__))
        self.parts: dict[str, NegativeSampler] = {name: parts[name] for name in sorted(parts)}

    @property
    def mined_depth(self) -> int:
        return max(part.mined_depth for part in self.parts.values())

    def sample(self, request: DrawRequest) -> Draw:
        """Distinct entities of all parts."""
        draws = [part.sample(request) for part in self.parts.values()]
        rows = np.concatenate([draw.rows for draw in draws])
        mask = np.concatenate([draw.mask for draw in draws], axis=1)
        return as_sets(Draw(rows, mask, in_batch=any(draw.in_batch for draw in draws)))

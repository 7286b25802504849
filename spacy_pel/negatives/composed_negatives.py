"""Several samplers as one."""

from typing import Any, Dict

import numpy as np

from ..errors import Errors, PelError
from ..registry import registry
from .draw import Draw, DrawRequest, NegativeSampler, as_sets


@registry.pel_negatives("spacy-pel.ComposedNegatives.v1")
def make_composed_negatives(parts: Dict[str, Any]) -> "ComposedNegatives":
    """Build a ComposedNegatives. The config system cannot check the parts' type: the class does.

    parts (Dict[str, NegativeSampler]): samplers by any name: [pel.negatives.parts.NAME] in a config.
    """
    return ComposedNegatives(parts)


class ComposedNegatives:
    """What any of its parts draws is a negative; an entity that several draw counts once.

    For example hard ones of each mention's own beside many random ones that the batch shares.

    parts (Dict[str, NegativeSampler]): at least one. They draw in the order of their names.
    """

    def __init__(self, parts: Dict[str, NegativeSampler]):
        if not parts:
            raise PelError(Errors.E301.format(name="number of parts", least=1, value=0))
        for name, part in parts.items():
            if not isinstance(part, NegativeSampler):
                raise PelError(Errors.E322.format(name=name, came=type(part).__name__))
        self.parts = {name: parts[name] for name in sorted(parts)}

    @property
    def mined_depth(self) -> int:
        return max(part.mined_depth for part in self.parts.values())

    def sample(self, request: DrawRequest) -> Draw:
        """RETURNS (Draw): distinct entities of all parts."""
        draws = [part.sample(request) for part in self.parts.values()]
        rows = np.concatenate([draw.rows for draw in draws])
        mask = np.concatenate([draw.mask for draw in draws], axis=1)
        return as_sets(Draw(rows, mask, in_batch=any(draw.in_batch for draw in draws)))

from .entity_index import EntityIndex
from .evidence import FEATURES
from .priors import AliasPriors

__all__ = ["FEATURES", "AliasPriors", "EntityIndex"]

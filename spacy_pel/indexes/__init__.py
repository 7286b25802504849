from .entity_index import EntityIndex
from .evidence import FEATURES
from .priors import AliasPriors
from .recode import recode

__all__ = ["FEATURES", "AliasPriors", "EntityIndex", "recode"]

from .entity_index import EntityIndex
from .priors import AliasPriors
from .recode import recode

__all__ = ["AliasPriors", "EntityIndex", "recode"]

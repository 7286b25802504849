from .annotated_text import AliasPriors
from .entity_index import EntityIndex
from .recode import recode

__all__ = ["AliasPriors", "EntityIndex", "recode"]

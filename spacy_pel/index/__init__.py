from .annotated_text import AliasPriors
from .entity_index import EntityIndex

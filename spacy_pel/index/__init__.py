from .annotated_text import AliasPriors
from .entity_index import EntityIndex
from .row_table import TEXT_KINDS

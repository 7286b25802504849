from .formats import FORMATS, read_terms
from .hierarchy import branch_of, nearest_ancestors
from .tables import read_sssom, read_table
from .term import Term, clean_text

from .formats import FORMATS, read_terms
from .tables import read_sssom, read_table
from .term import Term, branch_of, clean_text, nearest_ancestors, xref_ids

from .formats import FORMATS, read_terms
from .term import Term, clean_text

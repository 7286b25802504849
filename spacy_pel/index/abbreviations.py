"""What short forms stand for where a document does not say: counts of uses by short form and entity.

They are ``AliasPriors`` whose surface forms are short forms and whose counts are thousandths of a use. Row -1 has the
uses of long forms that name no entity.
"""

from collections.abc import Iterable

import numpy as np

from ..util import hash_strings
from ..util.names import GREEK, GREEK_SYMBOL, NOT_WORD, compatible
from .annotated_text import AliasPriors

FILE = "abbreviations.arrow"
UNIT = 1000  # counts of a use
_MOST = 1 << 27  # counts of an entry: sums must fit 32 bits
_LENGTHS = range(2, 13)  # letters and digits


def short_form(text: str) -> str:
    """The normal form of a short form: letters and digits as they are written, Greek letters by name, without the s
    of a plural.

    Args:
        text: a mention as it stands in the text, e.g. "TNF-αs".

    Returns:
        e.g. "TNFalpha"; "" for what does not look like one: it is one word with two capitals, or one and a digit.
    """
    if not 2 <= len(text) <= 2 * _LENGTHS[-1] or not any(map(str.isupper, text)) or " " in text.strip():
        return ""
    plain = GREEK_SYMBOL.sub(lambda letter: GREEK[letter[0]], compatible(text).strip())
    form = NOT_WORD.sub("", plain)
    if form.endswith("s") and (form[-2:-1].isupper() or form[-2:-1].isdigit()):
        form = form[:-1]
    capitals, has_digit = sum(map(str.isupper, form)), any(map(str.isdigit, form))
    return form if len(form) in _LENGTHS and (capitals > 1 or (capitals == 1 and has_digit)) else ""


def abbreviation_counts(entries: Iterable[tuple[str, int, float]]) -> AliasPriors:
    """Count.

    Args:
        entries: short form as written, row of the knowledge base (-1 = no entity), and uses.

    Returns:
        The counts; what does not look like a short form is left out.
    """
    counted = ((short_form(short), row, min(round(UNIT * uses), _MOST)) for short, row, uses in entries)
    usable = [(form, row, count) for form, row, count in counted if form and count]
    forms, rows, counts = zip(*usable, strict=True) if usable else ((), (), ())
    hashes = hash_strings(list(forms))
    return AliasPriors.summed(hashes, np.array(rows, dtype=np.int32), np.array(counts, dtype=np.int32))

"""One normal form for names, used by the alias map, the priors and exact matching."""

import re
import unicodedata

_NOT_WORD = re.compile(r"[\W_]+")


def normalize_alias(text: str) -> str:
    """Fold a name: NFKC, case-folded, punctuation and white space runs to one blank.

    A name of punctuation only keeps its symbols, so that it does not become empty.

    text (str): a mention or an alias.
    RETURNS (str): e.g. "Fibroblast growth factor-1" -> "fibroblast growth factor 1".
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NOT_WORD.sub(" ", folded).strip() or folded.strip()

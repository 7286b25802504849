"""The words of a name, for parts that compare names by words."""

import re

_WORD = re.compile(r"[^\W_]+")
# Function words. scikit-learn's list would also drop "system", "fire" and "cry", which occur in names of
# concepts.
STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these "
    "they this to was will with".split()
)


def words_of(name: str) -> list[str]:
    """The runs of letters and digits, stop words left out, unless there are no
    others: "IT" is a name, too."""
    words = _WORD.findall(name)
    return [word for word in words if word not in STOP_WORDS] or words

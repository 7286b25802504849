"""Negations at the start of a mention."""

from collections.abc import Sequence

_WORDS = frozenset("no not without w/o never nor neither none deny denies denied denying".split())
_PHRASES = (("negative", "for"), ("free", "of"))
_AFTER_NO = (("evidence", "of"), ("sign", "of"), ("signs", "of"), ("history", "of"))
_NITRIC_OXIDE = "NO"


def negation_length(words: Sequence[str]) -> int:
    """Count the words of a negation that a mention begins with. "NO" counts only where all that follows is
    in capitals, too: "NO FEVER", but not "NO synthase".

    Args:
        words: of the mention.

    Returns:
        1 for "No asthma", 3 for "no evidence of asthma", 0 for "non-small cell lung cancer".
    """
    lower = [word.lower() for word in words]
    length = 0
    while length < len(words):
        is_gas = words[length] == _NITRIC_OXIDE and not "".join(words[length + 1 :]).isupper()
        if lower[length] in _WORDS and not is_gas:
            length += 1
        elif tuple(lower[length : length + 2]) in (_PHRASES + _AFTER_NO if length else _PHRASES):
            length += 2
        else:
            break
    return length

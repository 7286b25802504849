"""Brackets that lack their other half."""

from typing import List, Sequence, Tuple

_OPENING = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset({*_OPENING, *_OPENING.values()})


def unpaired_brackets(words: Sequence[str]) -> List[int]:
    """Find brackets without their other half. One inside a longer word, as in "poly(ADP-ribose)", pairs with
    others, but is not reported.

    words (Sequence[str]): of a mention, say.
    RETURNS (List[int]): the places of words that are such a bracket and nothing else, in order.
    """
    lone: List[int] = []
    open_ones: List[Tuple[str, int]] = []  # bracket and its word
    for place, word in enumerate(words):
        for character in filter(_BRACKETS.__contains__, word):
            if character not in _OPENING:
                open_ones.append((character, place))
            elif open_ones and open_ones[-1][0] == _OPENING[character]:
                open_ones.pop()
            else:
                lone.append(place)
    lone += [place for _, place in open_ones]
    return sorted(place for place in lone if words[place] in _BRACKETS)

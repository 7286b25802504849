"""Brackets that lack their other half."""

from collections.abc import Sequence

from spacy.tokens import Doc

_OPENING = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset({*_OPENING, *_OPENING.values()})


def unpaired_brackets(words: Sequence[str]) -> list[int]:
    """Find brackets without their other half. One inside a longer word, as in "poly(ADP-ribose)", pairs with
    others, but is not reported.

    Args:
        words: of a mention, say.

    Returns:
        The places of words that are such a bracket and nothing else, in order.
    """
    lone: list[int] = []
    open_ones: list[tuple[str, int]] = []  # bracket and its word
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


def with_other_halves(doc: Doc, start: int, end: int) -> tuple[int, int]:
    """Extend a mention to brackets next to it whose other half is inside one of its words, which cannot be
    cut: "hypertension(HTN" becomes "hypertension(HTN)".

    Args:
        doc: the document.
        start: the mention's first token.
        end: the token after its last one.

    Returns:
        The same or a longer mention.
    """
    depth = lowest = 0
    for character in doc[start:end].text:
        depth += (character in _OPENING.values()) - (character in _OPENING)
        lowest = min(lowest, depth)
    while lowest < 0 and start and doc[start - 1].text in _OPENING.values():
        start, lowest, depth = start - 1, lowest + 1, depth + 1
    while depth > 0 and doc[end : end + 1].text in _OPENING:
        end, depth = end + 1, depth - 1
    return start, end

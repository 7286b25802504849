"""Rules for where a mention may begin and end, whatever tagged it: lines, brackets, negations."""

from collections.abc import Collection, Sequence

from spacy.tokens import Doc

_OPENING = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset({*_OPENING, *_OPENING.values()})
_NEGATIONS = frozenset("no not without w/o never nor neither none deny denies denied denying".split())
_PHRASES = (("negative", "for"), ("free", "of"))
_AFTER_NO = (("evidence", "of"), ("sign", "of"), ("signs", "of"), ("history", "of"))
_NITRIC_OXIDE = "NO"


def trimmed(doc: Doc, runs: Sequence[Sequence[int]], line_ends: Collection[int]) -> list[list[tuple[int, int]]]:
    """Cut mentions at brackets without their other half, "(IL-6) levels" tagged from "IL-6" on into two,
    at the end of an item, and at a negation that they begin with, so that components that look for
    negations still see it.

    Args:
        doc: the document.
        runs: the tokens of each mention, at least one.
        line_ends: tokens at which a line ends, probably with its sentence; not within a mention that has words
            around it.

    Returns:
        Of each mention the pieces that have letters or digits: first token, and end.
    """
    return [_trimmed(doc, tokens, line_ends) for tokens in runs]


def _trimmed(doc: Doc, tokens: Sequence[int], line_ends: Collection[int]) -> list[tuple[int, int]]:
    cuts = {tokens[position] for position in _unpaired_brackets([doc[i].text for i in tokens])}
    if _is_within_line(doc, tokens):
        line_ends = ()
    pieces: list[list[int]] = [[]]
    for i in range(tokens[0], tokens[-1] + 1):
        if i in cuts or i in line_ends:
            pieces.append([])
        elif not doc[i].is_space:
            pieces[-1].append(i)
    spans = []
    for piece in pieces:
        piece = piece[_negation_length([doc[i].text for i in piece]) :]
        if piece:
            start, end = _with_other_halves(doc, piece[0], piece[-1] + 1)
            if any(map(str.isalnum, doc[start:end].text)):
                spans.append((start, end))
    return spans


def _unpaired_brackets(words: Sequence[str]) -> list[int]:
    """Find brackets without their other half. One inside a longer word, as in "poly(ADP-ribose)", pairs with
    others, but is not reported.

    Args:
        words: of a mention, say.

    Returns:
        The positions of words that are such a bracket and nothing else, in order.
    """
    unpaired: list[int] = []
    unclosed: list[tuple[str, int]] = []  # bracket and its word
    for position, word in enumerate(words):
        for character in filter(_BRACKETS.__contains__, word):
            if character not in _OPENING:
                unclosed.append((character, position))
            elif unclosed and unclosed[-1][0] == _OPENING[character]:
                unclosed.pop()
            else:
                unpaired.append(position)
    unpaired += [position for _, position in unclosed]
    return sorted(position for position in unpaired if words[position] in _BRACKETS)


def _with_other_halves(doc: Doc, start: int, end: int) -> tuple[int, int]:
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


def _negation_length(words: Sequence[str]) -> int:
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
        if lower[length] in _NEGATIONS and not is_gas:
            length += 1
        elif tuple(lower[length : length + 2]) in (_PHRASES + _AFTER_NO if length else _PHRASES):
            length += 2
        else:
            break
    return length


def _is_within_line(doc: Doc, words: Sequence[int]) -> bool:
    """Whether a stretch of tokens has words before and after it on its lines, as in a
    sentence: "with rheumatoid arthritis was"."""
    before, after = doc[max(0, words[0] - 1) : words[0]].text, doc[words[-1] + 1 : words[-1] + 2].text
    return before.isalpha() and (after.isalpha() or after == ".")

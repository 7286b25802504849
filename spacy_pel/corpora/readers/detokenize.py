"""From tokens back to natural text, with the offsets of every token.

Where a mention's string is known it decides the white space inside the mention. Elsewhere:

* no blank before closing brackets, ``, . ; : ? ! %``, ``'s``, ``n't``, ``+``, ``*``, ``®`` and ``™``,
  nor before a token that starts with ``-``, ``/`` or a closing bracket;
* no blank after an opening bracket, nor after a token that ends in one, in ``-``, ``/``, ``<`` or ``=``
  ("Ca(", "β-", "P<"); a lone ``<`` or ``=`` keeps its blanks;
* hyphens and slashes bind both sides, but a suspended hyphen ("pre- and post-natal") binds only
  the left one, and a hyphen or slash after punctuation is left alone;
* double quotes open and close in turn; a lone ``'`` closes.
"""

from collections.abc import Sequence

OPENING = "([{“‘"
CLOSING = ")]}”’"
BIND_LEFT = {",", ".", ";", ":", "?", "!", "%", "'s", "'", "n't", "+", "*", "®", "™", "..", "...", "°"}
SUSPENDING = {"and", "or", "to", "versus", "vs.", "&", "as"}
HYPHENS = "-/‑"


def glue(tokens: Sequence[str], fixed: dict[int, str]) -> tuple[str, list[tuple[int, int]]]:
    """Join the tokens of a sentence.

    Args:
        tokens: the tokens.
        fixed: white space that is known, by the index of the token before it.

    Returns:
        The text and the offsets of each token.
    """
    text = ""
    offsets: list[tuple[int, int]] = []
    quote_open = False
    for index, token in enumerate(tokens):
        if index > 0:
            if index - 1 in fixed:
                text += fixed[index - 1]
            elif not _bound(tokens, index, quote_open):
                text += " "
        quote_open ^= token == '"'
        offsets.append((len(text), len(text) + len(token)))
        text += token
    return text, offsets


def spaces_in(tokens: Sequence[str], surface: str) -> list[str]:
    """The white space between tokens as the mention's string has it.

    Returns:
        One entry between each two tokens, or an empty list if the string
        does not begin with these tokens (it may be longer: some sentences were cut in two).
    """
    spaces = []
    position = 0
    for token in tokens:
        begin = surface.find(token, position)
        gap = surface[position:begin]
        if begin < 0 or gap.strip():
            return []
        spaces.append(gap)
        position = begin + len(token)
    return spaces[1:]


def _bound(tokens: Sequence[str], index: int, quote_open: bool) -> bool:
    """Is there no white space before this token?"""
    left, right = tokens[index - 1], tokens[index]
    if right == '"':
        return quote_open
    if left == '"':
        return quote_open  # the state after the left quote: open = it was an opening one
    if left[-1] in OPENING:
        return True
    if right in BIND_LEFT or right[0] in CLOSING:
        return True
    if right[0] in HYPHENS:
        return left[-1] not in ",;:.="
    if left in HYPHENS:
        before = tokens[index - 2] if index > 1 else ","
        return before[-1] not in ",;:.=" and right.lower() not in SUSPENDING
    if left[-1] in HYPHENS:
        return right.lower() not in SUSPENDING
    return len(left) > 1 and left[-1] in "<="

"""What a short form looks like, and which text may be its long form (Schwartz & Hearst 2003)."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Literal

from spacy.tokens import Doc, Span

from ..util.names import GREEK, GREEK_SYMBOL, NOT_WORD, compatible

# where the long form may be: anywhere in a text; its last words, by their initials; or the whole text
Rule = Literal["anywhere", "initials", "whole"]
Tokens = tuple[int, int]  # first token, and end

FUNCTION_WORDS = frozenset("a an and by for from in of on or the to with".split())
_ARTICLES = frozenset("a an the".split())
_CHARACTERS = range(2, 10)  # of each word of a short form that a text defines
_UNDEFINED = range(2, 7)  # characters of a form that may be short without a definition
_NORMAL = range(2, 13)  # letters and digits of a normal form
_NOT_IN_SHORT = frozenset('()[]{},"\u201c\u201d')
_NOT_IN_LONG = frozenset(";=")  # as words
_WORD = re.compile(r"[^\W_]+")
_SINGLE_LETTERS = re.compile(r"\w([^\w&]\w)+\W?")  # "A-T", "S.E.M."
# of a sentence or a paragraph; the dots of "i.v. drugs" and "Staph. aureus" end none
_END = re.compile(r"[^\W_]{3}[.?!][\"')\]]*\s+[A-Z]|\n\s*\n")
_BRACKETED = re.compile(r"\s\(([^()]*)\)")


def is_short_form(doc: Doc, short: Tokens) -> bool:
    """Whether it begins with a letter, or with a digit where it has a capital ("5-FU"), is
    letters by half, without brackets and commas, and its words are 2 to 9 characters long."""
    text = doc[slice(*short)].text
    letters = sum(map(str.isalpha, text))
    begins = text[0].isalpha() or (text[0].isdigit() and any(map(str.isupper, text)))
    are_words = _NOT_IN_SHORT.isdisjoint(text) and all(len(word) in _CHARACTERS for word in text.split())
    return begins and 2 * letters >= len(text) and are_words


def looks_short(words: Sequence[str]) -> bool:
    """Whether these, or a text, have two capitals, or one and a digit. A remark may begin with a word."""
    text = "".join(words)
    capitals = sum(map(str.isupper, text))
    return capitals > 1 or (capitals == 1 and any(map(str.isdigit, text)))


def may_be_short(forms: Iterable[str]) -> list[bool]:
    """Whether each is as short as abbreviations are, capitals or not."""
    return [len(form) in _UNDEFINED and " " not in form for form in forms]


def normal_form(text: str) -> str:
    """The normal form of a short form: letters and digits as they are written, Greek letters by name, without the s
    of a plural.

    Args:
        text: a mention as it stands in the text, e.g. "TNF-αs".

    Returns:
        e.g. "TNFalpha"; "" for what does not look like a short form of one word.
    """
    if not 2 <= len(text) <= 2 * _NORMAL[-1] or not any(map(str.isupper, text)) or " " in text.strip():
        return ""
    plain = GREEK_SYMBOL.sub(lambda letter: GREEK[letter[0]], compatible(text).strip())
    form = NOT_WORD.sub("", plain)
    if form.endswith("s") and (form[-2:-1].isupper() or form[-2:-1].isdigit()):
        form = form[:-1]
    return form if len(form) in _NORMAL and looks_short(form) else ""


def other_number(word: str) -> str:
    """The singular of "MMs", the plural of "MM"; the same of what may be a word."""
    stem = word.removesuffix("s")
    if not any(map(str.isupper, stem[1:])):
        return word
    return stem if stem != word else word + "s"


def are_balanced(words: Sequence[str]) -> bool:
    """Whether every bracket among these words has its other half."""
    for opening, closing in ("()", "[]"):
        depths = list(accumulate((word.count(opening) - word.count(closing) for word in words), initial=0))
        if min(depths) < 0 or depths[-1] != 0:
            return False
    return True


def match_long_form(doc: Doc, short: Tokens, candidate: Tokens, rule: Rule = "anywhere") -> Tokens | None:
    """Match the letters and digits of a short form from its end, each with the last possible character; the
    first one must begin a word. Where they are the initials of the last words, the long form is all of these:
    "proton pump (PP)".

    Args:
        doc: the document.
        short: the short form.
        candidate: the tokens that may end with the long form.
        rule: which part of them it may be.

    Returns:
        From the token where the match begins; None = no match, or the short form is none.
    """
    if candidate[0] >= candidate[1] or not is_short_form(doc, short):
        return None
    span = doc[slice(*candidate)]
    text = lower(span.text)
    itself = doc[slice(*short)].text
    place = _first_matched(text, lower(itself))
    if place is None:
        return None
    if (initials := find_initials(text, itself)) is not None:
        place = initials
    elif rule == "initials":
        return None
    first = max(number for number, token in enumerate(span) if token.idx - span.start_char <= place)
    if rule == "whole" and any(token.lower_ not in _ARTICLES for token in span[:first]):
        return None
    if first and span[first - 1].text == "(" and ")" in span[first].text[1:-1]:
        first -= 1  # "(R)-alpha-methylhistamine"
    start = candidate[0] + first
    if not _is_definition(itself, doc[start : candidate[1]], text[place:]):
        return None
    return start, candidate[1]


def _first_matched(text: str, wanted: str) -> int | None:
    """Where the first character of a short form is matched, both in lower case."""
    place = len(text)
    for number in range(len(wanted) - 1, -1, -1):
        character = wanted[number]
        if not character.isalnum():
            continue
        place = text.rfind(character, 0, place)
        while number == 0 and place > 0 and text[place - 1].isalnum():
            place = text.rfind(character, 0, place)
        if place < 0:
            return None
    return place


def _is_definition(itself: str, found: Span, matched: str) -> bool:
    """Whether a text that has the letters of a short form may be its long form.

    Args:
        itself: the short form.
        found: the text.
        matched: the same from where the match begins, in lower case.
    """
    text, words = found.text, [token.text for token in found]
    if "//" in text:  # an address
        return False
    if len(text) <= len(itself) or text.endswith(itself) or itself + " " in text:
        return False
    if not itself.isupper() and lower(itself) + " " in lower(text):  # "diet (Diet 20)"
        return False
    if not are_balanced(words) or _END.search(text) or not _NOT_IN_LONG.isdisjoint(words):
        return False
    if any(looks_short(inside) for inside in _BRACKETED.findall(text)):  # another short form
        return False
    return not _SINGLE_LETTERS.fullmatch(itself) or _begin_words(itself, matched)


def lower(text: str) -> str:
    """In lower case and of the same length: that of "İ" would be two characters."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def find_initials(text: str, itself: str) -> int | None:
    """Where the last words of a lower-case text begin whose initials are the letters
    of a short form, perhaps but for its plural s, with or without those of "of", "the" and the like; None =
    they have others."""
    letters = [character for character in lower(itself) if character.isalnum()]
    words = list(_WORD.finditer(text))
    without = [word for word in words if word[0] not in FUNCTION_WORDS]
    plural = letters[:-1] if itself.endswith("s") and itself[-2:-1].isupper() else letters
    for wanted in (letters, plural):
        for some in (words, without):
            last = some[-len(wanted) :]
            if [word[0][0] for word in last] == wanted:
                return last[0].start()
    return None


def _begin_words(itself: str, text: str) -> bool:
    """Whether single capitals are the initials of a text's first words: those of "A-T" are,
    the panels of a figure, "(A-D)" or "(e-f)", hardly ever."""
    letters = _WORD.findall(lower(itself))
    words = [word for word in _WORD.findall(text) if word not in FUNCTION_WORDS]
    return itself.isupper() and [word[0] for word in words[: len(letters)]] == letters

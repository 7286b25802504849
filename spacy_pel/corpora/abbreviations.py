"""Abbreviations that a text defines in brackets, and their long forms (Schwartz & Hearst 2003)."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, chain
from typing import Any

from spacy.tokens import Doc, Span, Token

_INSIDE = 8  # tokens in brackets at most; a longer parenthesis is a remark
_SHORT = 3  # tokens in brackets that may be a short form; more of them are a long form
_CHARACTERS = range(2, 10)  # of each word of a short form
_SURE = (3, 8)  # characters of a short form, and of the one word in brackets that is its long form, at least
_REMARK = 40  # tokens in brackets that begin with a short form and a comma, colon or semicolon, at most
_SEPARATORS = frozenset(",:;")
_NOT_IN_SHORT = frozenset('()[]{},"\u201c\u201d')
_NOT_IN_LONG = frozenset(";=")  # as words
_IN_ADDRESSES = frozenset("/.:=@")  # and in no name of one word
_ENDS = frozenset(",:;()[]=")  # of a number without a unit
_JOINING = frozenset("-\u2010\u2011\u2013")  # two parts of a word
_FUNCTION_WORDS = frozenset("a an and by for from in of on or the to with".split())
_WORD = re.compile(r"[^\W_]+")
_SINGLE_LETTERS = re.compile(r"\w([^\w&]\w)+\W?")  # "A-T", "S.E.M."
# of a sentence or a paragraph; the dots of "i.v. drugs" and "Staph. aureus" end none
_END = re.compile(r"[^\W_]{3}[.?!][\"')\]]*\s+[A-Z]|\n\s*\n")
_BRACKETED = re.compile(r"\s\(([^()]*)\)")
_BEHIND = re.compile(r"^\(?([^()\s]{2,})\)[-/]")  # another short form, "IS)/" or "(IS)-"

Tokens = tuple[int, int]  # first token, and end
Words = tuple[str, ...]


def find_abbreviations(doc: Doc) -> list[dict[str, Any]]:
    """Find the abbreviations that a document defines, "long form (SF)" or "SF (a long form)", and wherever
    else their short forms occur. A short form that is defined again, by words with its initials, stands for
    each long form from its definition on; a definition that a remark follows counts only where there is no
    other.

    It follows Schwartz & Hearst, "A simple algorithm for identifying abbreviation definitions in
    biomedical text" (PSB 2003), and considers the same candidates as scispaCy's detector; those that a
    remark follows, "diethylnitrosamine (DEN: 10 mg/kg)"; and few words in brackets after a short form,
    "RA (rheumatoid arthritis)". Tokens without white space between them are one word, so that it finds
    "5-FU" and "NF-kB", and does not cut a long form at the wrong token. A long form begins where the initials
    match, is within a sentence, and does not contain its short form.

    Args:
        doc: only its tokens are read.

    Returns:
        By short form and place, each with "short_text", "short_start",
        "short_end", "long_text", "long_start" and "long_end" (token offsets).
    """
    words = [token.text for token in doc]
    definitions: dict[Words, dict[int, Tokens]] = {}  # short form -> where it is defined -> long form
    long_forms = set()
    read = set()  # brackets whose long form is known
    plain = ((*pair, False) for pair in _candidates(doc, words))
    before_remarks = ((*pair, True) for pair in _candidates_before_remarks(words))
    for short, candidate, is_before_remark in chain(plain, before_remarks):
        key = tuple(words[slice(*short)])
        if candidate in read or (is_before_remark and key in definitions) or not _is_short_form(doc, short):
            continue
        long_form = _long_form(doc, short, candidate)
        if long_form is None or (text := _lower(_long_text(doc, long_form))) in long_forms:
            continue
        if key in definitions and _initials(text, doc[slice(*short)].text) != 0:
            continue
        long_forms.add(text)
        read.add(candidate)
        definitions.setdefault(key, {})[short[0]] = long_form
    found = []
    for start, end, (long_start, long_end) in _occurrences(words, definitions):
        record = {"short_text": doc[start:end].text, "short_start": start, "short_end": end}
        long_text = _long_text(doc, (long_start, long_end))
        found.append({**record, "long_text": long_text, "long_start": long_start, "long_end": long_end})
    return found


def _candidates(doc: Doc, words: list[str]) -> Iterator[tuple[Tokens, Tokens]]:
    """A possible short form, and the tokens among which its long form may be; by place."""
    for bracket in (number for number, word in enumerate(words) if word == "(" and number):
        start = bracket + 1
        for end in range(start + 1, min(start + _INSIDE, len(words) - 1) + 1):
            if words[end] != ")":
                continue
            inside = words[start:end]
            if len(inside) <= _SHORT:
                yield (start, end), _before(bracket, inside)
            if not _are_balanced(inside):
                continue
            cut = next((number for number, word in enumerate(inside) if word in _SEPARATORS), len(inside))
            parts = dict.fromkeys((cut, len(inside)))  # "MDMA (its long form, ecstasy)"
            shorts = dict.fromkeys((_word_before(doc, bracket), bracket - 1))  # "3H-TBOB", and "TBOB"
            for part in parts:
                for short in shorts:
                    if part > _SHORT or _may_name(words[short:bracket], inside[:part]):
                        yield (short, bracket), (start, start + part)


def _word_before(doc: Doc, bracket: int) -> int:
    """Where the word before a bracket begins, which may be several tokens: "NF-kB"."""
    start = bracket - 1
    while start > max(0, bracket - _SHORT) and _is_joined(doc[start - 1]):
        start -= 1
    return start


def _is_joined(token: Token) -> bool:
    """Whether it and the next token are parts of one word."""
    return not (token.whitespace_ or token.is_space or (token.is_punct and token.text not in _JOINING))


def _may_name(short: list[str], inside: list[str]) -> bool:
    """Whether a few words in brackets may be a long form, "RA (rheumatoid arthritis)", not a
    remark, "CT (chest)"."""
    text, last = "".join(short), "".join(inside[-1:])
    if len(inside) == 1 and not (len(text) >= _SURE[0] and len(last) >= _SURE[1] and _IN_ADDRESSES.isdisjoint(last)):
        return False
    return _is_no_word(short) and text[-1].lower() in last.lower()


def _candidates_before_remarks(words: list[str]) -> Iterator[tuple[Tokens, Tokens]]:
    """As ``_candidates``, of brackets that begin with a short form and a comma, colon or
    semicolon. Statistics are no definitions: "(HR, 1.2; 95% CI ...)"."""
    for bracket in (number for number, word in enumerate(words) if word == "(" and number):
        start = bracket + 1
        inside = range(start, min(start + _SHORT + 1, len(words)))
        end = next((number for number in inside if words[number] in _SEPARATORS), start)
        remark = words[end + 1 : start + _REMARK]
        if ")" in remark and _is_no_word(words[start:end]) and not _is_bare_number(remark):
            yield (start, end), _before(bracket, words[start:end])


def _before(bracket: int, short: list[str]) -> Tokens:
    """Where the long form of a short form in brackets may be, as in the paper."""
    characters = sum(map(len, short))
    return max(0, bracket - min(characters + 5, 2 * characters)), bracket


def _is_no_word(words: list[str]) -> bool:
    """Whether these have two capitals, or one and a digit. A remark may begin with a word."""
    text = "".join(words)
    capitals = sum(map(str.isupper, text))
    return capitals > 1 or (capitals == 1 and any(map(str.isdigit, text)))


def _is_bare_number(words: list[str]) -> bool:
    """Whether they begin with a number, or a range of them, without a unit. One is a ")"."""
    after = next(word for word in words if word in _ENDS or any(map(str.isalpha, word)))
    return words[0][0].isdigit() and after in _ENDS


def _are_balanced(words: list[str]) -> bool:
    """Whether every bracket among these words has its other half."""
    for opening, closing in ("()", "[]"):
        depths = list(accumulate((word.count(opening) - word.count(closing) for word in words), initial=0))
        if min(depths) < 0 or depths[-1] != 0:
            return False
    return True


def _is_short_form(doc: Doc, short: Tokens) -> bool:
    """Whether it begins with a letter, or with a digit where it has a capital ("5-FU"), is
    letters by half, without brackets and commas, and its words are 2 to 9 characters long."""
    text = doc[slice(*short)].text
    letters = sum(map(str.isalpha, text))
    begins = text[0].isalpha() or (text[0].isdigit() and any(map(str.isupper, text)))
    are_words = _NOT_IN_SHORT.isdisjoint(text) and all(len(word) in _CHARACTERS for word in text.split())
    return begins and 2 * letters >= len(text) and are_words


def _long_form(doc: Doc, short: Tokens, candidate: Tokens) -> Tokens | None:
    """Match the letters and digits of a short form from its end, each with the last possible character; the
    first one must begin a word. Where they are the initials of the last words, the long form is all of these:
    "proton pump (PP)".

    Returns:
        From the token where the match begins; None = no match.
    """
    if candidate[0] >= candidate[1]:
        return None
    span = doc[slice(*candidate)]
    text = _lower(span.text)
    wanted = _lower(doc[slice(*short)].text)
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
    itself = doc[slice(*short)].text
    if (initials := _initials(text, itself)) is not None:
        place = initials
    first = max(number for number, token in enumerate(span) if token.idx - span.start_char <= place)
    if first and span[first - 1].text == "(" and ")" in span[first].text[1:-1]:
        first -= 1  # "(R)-alpha-methylhistamine"
    start = candidate[0] + first
    if not _is_definition(itself, doc[start : candidate[1]], text[place:]):
        return None
    return start, candidate[1]


def _is_definition(itself: str, found: Span, matched: str) -> bool:
    """Whether a text that has the letters of a short form may be its long form.

    Args:
        itself: the short form.
        found: the text.
        matched: the same from where the match begins, in lower case.
    """
    text, words = found.text, [token.text for token in found]
    if len(text) <= len(itself) or text.endswith(itself) or itself + " " in text:
        return False
    if not itself.isupper() and _lower(itself) + " " in _lower(text):  # "diet (Diet 20)"
        return False
    if not _are_balanced(words) or _END.search(text) or not _NOT_IN_LONG.isdisjoint(words):
        return False
    if any(_is_no_word([inside]) for inside in _BRACKETED.findall(text)):  # another short form
        return False
    return not _SINGLE_LETTERS.fullmatch(itself) or _begin_words(itself, matched)


def _long_text(doc: Doc, long_form: Tokens) -> str:
    """A long form, without another short form that is written together with it:
    "stroke (IS)/transient ischemic attack (TIA)"."""
    text = doc[slice(*long_form)].text
    before = _BEHIND.match(text)
    return text[before.end() :] if before and before[1].isalpha() else text


def _lower(text: str) -> str:
    """In lower case and of the same length: that of "İ" would be two characters."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def _occurrences(words: list[str], definitions: dict[Words, dict[int, Tokens]]) -> Iterator[tuple[int, int, Tokens]]:
    """Where the tokens of each short form occur, and the long form that is
    defined there or last before; before the first definition, that one."""
    starts = defaultdict(list)
    for start, word in enumerate(words):
        starts[word].append(start)
    for key, long_forms in definitions.items():
        for start in starts[key[0]]:
            end = start + len(key)
            if tuple(words[start:end]) == key:
                defined = max((place for place in long_forms if place <= start), default=min(long_forms))
                yield start, end, long_forms[defined]


def _initials(text: str, itself: str) -> int | None:
    """Where the last words of a lower-case text begin whose initials are the letters
    of a short form, perhaps but for its plural s, with or without those of "of", "the" and the like; None =
    they have others."""
    letters = [character for character in _lower(itself) if character.isalnum()]
    words = list(_WORD.finditer(text))
    without = [word for word in words if word[0] not in _FUNCTION_WORDS]
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
    letters = _WORD.findall(_lower(itself))
    words = [word for word in _WORD.findall(text) if word not in _FUNCTION_WORDS]
    return itself.isupper() and [word[0] for word in words[: len(letters)]] == letters

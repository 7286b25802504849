"""Abbreviations that a text defines: in brackets, after words such as "hereafter", or in a list."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from spacy.tokens import Doc, Span, Token

from ..util.names import GREEK, GREEK_SYMBOL, NOT_WORD, compatible

# where the long form may be: anywhere in a text; its last words, by their initials; or the whole text
Rule = Literal["anywhere", "initials", "whole"]
Tokens = tuple[int, int]  # first token, and end
Words = tuple[str, ...]
LongForm = tuple[str, int, int]  # its text, first token, and end

FUNCTION_WORDS = frozenset("a an and by for from in of on or the to with".split())
_ARTICLES = frozenset("a an the".split())
_CHARACTERS = range(2, 10)  # of each word of a short form that a text defines
_NORMAL = range(2, 13)  # letters and digits of a normal form
_NOT_IN_SHORT = frozenset('()[]{},"\u201c\u201d')
_NOT_IN_LONG = frozenset(";=")  # as words
_WORD = re.compile(r"[^\W_]+")
_SINGLE_LETTERS = re.compile(r"\w([^\w&]\w)+\W?")  # "A-T", "S.E.M."
# of a sentence or a paragraph; the dots of "i.v. drugs" and "Staph. aureus" end none
_END = re.compile(r"[^\W_]{3}[.?!][\"')\]]*\s+[A-Z]|\n\s*\n")
_BRACKETED = re.compile(r"\s\(([^()]*)\)")
_BEHIND = re.compile(r"^\(?([^()\s]{2,})\)[-/]")  # another short form, "IS)/" or "(IS)-"

_CLOSING = {"(": ")", "[": "]", "{": "}", "\u2013": "\u2013", "\u2014": "\u2014"}
_QUOTES = frozenset(("''", "``", *"\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb"))
_LONGEST = 300  # characters of a long form
_INSIDE = 8  # tokens in brackets at most; a longer parenthesis is a remark
_SHORT = 3  # tokens in brackets that may be a short form; more of them are a long form
_SURE = (3, 8)  # characters of a short form, and of the one word in brackets that is its long form, at least
_LONGEST_WORD = 5  # tokens of one word at most
_REMARK = 40  # tokens in brackets that begin with a short form and a comma, colon or semicolon, at most
_SEPARATORS = frozenset(",:;")
_IN_ADDRESSES = frozenset("/.:=@")  # and in no name of one word
_ENDS = frozenset(",:;()[]=")  # of a number without a unit
_JOINING = frozenset("-\u2010\u2011\u2013")  # two parts of a word

_CUE = 10  # tokens on either side of a cue that belong to it at most
# "hereinafter referred to as MM", "abbreviated to “MM”"
_SURE_CUES = frozenset(
    "hereafter hereinafter henceforth abbreviate abbreviated abbreviation abbr. abbrev. shortened referred".split()
)
_CUES = _SURE_CUES | frozenset("= or known called termed denoted designated aka a.k.a. i.e. short".split())
_AFTER_CUE = (
    _QUOTES | _SURE_CUES | frozenset("as to by simply in the text following here herein called termed , :".split())
)
_BEFORE_CUE = (
    _QUOTES
    | _CUES
    | frozenset("( [ , ; \u2013 \u2014 - in we which that is are was were will be also often commonly usually".split())
    | frozenset("frequently sometimes generally here herein simply".split())
)
_CLOSED = frozenset(", . ; : ) ] \u2013 \u2014".split())  # what follows an apposition
_MARKS = frozenset((*":=,-\u2013\u2014\t", "\t\t"))  # between a short form and its long form in a list
_SURE_MARKS = frozenset(":=")
_AFTER_ITEM = frozenset("; , . ) : =".split())
_ITEM = 20  # tokens of the long form of an item at most
_HEADING = re.compile(r"(?:abbreviat|acronym)[^.;:]{0,60}[.:\s\u2013\u2014-]*$", re.IGNORECASE)
_BETWEEN_ITEMS = frozenset("; , . and".split())


class Candidate(NamedTuple):
    """A place that may define an abbreviation.

    Attributes:
        short: the short form.
        long: the tokens that may end with its long form.
        rule: which part of them that may be.
        is_weak: whether it counts only where no other place defines the short form.
    """

    short: Tokens
    long: Tokens
    rule: Rule = "anywhere"
    is_weak: bool = False


def find_abbreviations(doc: Doc) -> list[dict[str, Any]]:
    """Find the abbreviations that a document defines, and wherever else their short forms occur, in the singular
    or the plural. A short form that is defined again, by words with its initials, stands for each long form from
    its definition on.

    It follows Schwartz & Hearst, "A simple algorithm for identifying abbreviation definitions in
    biomedical text" (PSB 2003), and considers the same candidates as scispaCy's detector, also in square brackets
    and quotes: "long form (SF)" and "SF (a long form)". Furthermore few words in brackets after a short form, "RA
    (rheumatoid arthritis)"; and where there is no other definition, those that a remark follows,
    "diethylnitrosamine (DEN: 10 mg/kg)", those after words such as "hereafter" or "abbreviated as", and those
    of a list of abbreviations. Tokens without white space between them are one word, so that it finds
    "5-FU" and "NF-kB", and does not cut a long form at the wrong token. A long form begins where the initials
    match, is within a sentence, and does not contain its short form.

    Args:
        doc: only its tokens are read.

    Returns:
        By short form and place, each with "short_text", "short_start",
        "short_end", "long_text", "long_start" and "long_end" (token offsets).
    """
    words = [token.text for token in doc]
    definitions: dict[Words, dict[int, LongForm]] = {}  # short form -> where it is defined -> long form
    long_forms = set()
    read = set()  # brackets whose long form is known
    for short, candidate, rule, is_weak in definition_candidates(doc, words):
        key = tuple(words[slice(*short)])
        if candidate in read or (is_weak and key in definitions):
            continue
        long_form = match_long_form(doc, short, candidate, rule)
        if long_form is None or (lowered := (text := _long_text(doc, long_form)).lower()) in long_forms:
            continue
        if key in definitions and find_initials(lowered, doc[slice(*short)].text) != 0:
            continue
        long_forms.add(lowered)
        read.add(candidate)
        definitions.setdefault(key, {})[short[0]] = text, *long_form
    found = []
    for start, end, (long_text, long_start, long_end) in _occurrences(words, definitions):
        record = {"short_text": doc[start:end].text, "short_start": start, "short_end": end}
        found.append({**record, "long_text": long_text, "long_start": long_start, "long_end": long_end})
    return found


def _long_text(doc: Doc, long_form: Tokens) -> str:
    """A long form, without another short form that is written together with it:
    "stroke (IS)/transient ischemic attack (TIA)"."""
    text = doc[slice(*long_form)].text
    before = _BEHIND.match(text)
    return text[before.end() :] if before and before[1].isalpha() else text


def _occurrences(
    words: list[str], definitions: dict[Words, dict[int, LongForm]]
) -> Iterator[tuple[int, int, LongForm]]:
    """Where the tokens of each short form occur, or of its other number unless that is defined itself, and the long
    form that is defined there or last before; before the first definition, that one."""
    defined: dict[Words, Words] = {}
    for key in definitions:
        defined[key] = key
        if (other := (*key[:-1], other_number(key[-1]))) not in definitions:
            defined[other] = key
    lengths = defaultdict(set)  # of short forms, by their first token
    for key in defined:
        lengths[key[0]].add(len(key))
    starts: dict[Words, list[int]] = {key: [] for key in defined}
    for start, word in enumerate(words):
        for end in (start + length for length in lengths.get(word, ())):
            if end <= len(words) and (key := tuple(words[start:end])) in defined:
                starts[key].append(start)
    for key, places in starts.items():
        long_forms = sorted(definitions[defined[key]].items())
        for start in places:
            last = bisect_right(long_forms, start, key=itemgetter(0)) - 1
            yield start, start + len(key), long_forms[max(0, last)][1]


def definition_candidates(doc: Doc, words: list[str]) -> Iterator[Candidate]:
    """The places that may define an abbreviation; the weak ones come last.

    Args:
        doc: the document.
        words: the texts of its tokens.
    """
    brackets = [number for number, word in enumerate(words) if word in _CLOSING and number]
    yield from _in_brackets(doc, words, brackets)
    yield from _before_remarks(words, brackets)
    yield from _after_cues(doc, words)
    yield from _in_lists(doc, words)


def _in_brackets(doc: Doc, words: list[str], brackets: list[int]) -> Iterator[Candidate]:
    for bracket in brackets:
        closing = _CLOSING[words[bracket]]
        start = bracket + 1
        for end in range(start + 1, min(start + _INSIDE, len(words) - 1) + 1):
            if words[end] != closing:
                continue
            quoted = end - start > 2 and words[start] in _QUOTES and words[end - 1] in _QUOTES
            short_start, short_end = (start + 1, end - 1) if quoted else (start, end)
            within, inside = words[short_start:short_end], words[start:end]
            if len(within) <= _SHORT:
                # "[Pi]", of a concentration, is no definition, and "[number]" stands for one
                is_sure = closing == ")" or (closing in "]}" and looks_short(within))
                rule: Rule = "anywhere" if is_sure else "initials"
                yield Candidate((short_start, short_end), _before(words, bracket, within), rule)
            is_variety = closing == "]" and inside[0].startswith(words[bracket - 1])  # "loxP [loxP257]"
            if closing not in ")]}" or is_variety or not are_balanced(inside):
                continue
            cut = next((number for number, word in enumerate(inside) if word in _SEPARATORS), len(inside))
            parts = dict.fromkeys((cut, len(inside)))  # "MDMA (its long form, ecstasy)"
            shorts = dict.fromkeys((_word_before(doc, bracket), bracket - 1))  # "3H-TBOB", and "TBOB"
            for part in parts:
                for short in shorts:
                    if part > _SHORT or _may_name(words[short:bracket], inside[:part]):
                        yield Candidate((short, bracket), (start, start + part))


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
    return looks_short(text) and text[-1].lower() in last.lower()


def _before_remarks(words: list[str], brackets: list[int]) -> Iterator[Candidate]:
    """Of brackets that begin with a short form and a comma, colon or semicolon. Statistics are no definitions:
    "(HR, 1.2; 95% CI ...)"."""
    for bracket in brackets:
        start = bracket + 1
        inside = range(start, min(start + _SHORT + 1, len(words)))
        end = next((number for number in inside if words[number] in _SEPARATORS), start)
        remark = words[end + 1 : start + _REMARK]
        if _CLOSING[words[bracket]] in remark and looks_short(words[start:end]) and not _is_bare_number(remark):
            yield Candidate((start, end), _before(words, bracket, words[start:end]), is_weak=True)


def _before(words: list[str], end: int, short: list[str]) -> Tokens:
    """Where the long form of a short form that follows may be, as in the paper."""
    characters = sum(map(len, short))
    while end > 1 and words[end - 1] in _QUOTES:
        end -= 1
    return max(0, end - min(characters + 5, 2 * characters)), end


def _is_bare_number(words: list[str]) -> bool:
    """Whether they begin with a number, or a range of them, without a unit. One is a closing bracket."""
    after = next(word for word in words if word in _ENDS or any(map(str.isalpha, word)))
    return words[0][0].isdigit() and after in _ENDS


def _after_cues(doc: Doc, words: list[str]) -> Iterator[Candidate]:
    """Of "malignant melanoma (hereafter MM)", "malignant melanoma, abbreviated as MM". "X or Y" mostly are
    alternatives: the initials decide. So they do for "X called Y", unless that is an apposition."""
    for cue in (number for number, word in enumerate(words) if word in _CUES and number):
        start = cue + 1
        while start < min(cue + _CUE, len(words)) and words[start].lower() in _AFTER_CUE:
            start += 1
        end = _end_of_word(doc, words, start)
        if not looks_short(words[start:end]):
            continue
        before = cue
        while before > max(0, cue - _CUE) and words[before - 1].lower() in _BEFORE_CUE:
            before -= 1
        first, last = _before(words, before, words[start:end])
        if words[cue] == "or":
            first = max([first, *(number + 1 for number in range(first, last) if words[number] == ",")])
        after = end + (end < len(words) and words[end] in _QUOTES)
        is_closed = after == len(words) or words[after] in _CLOSED or words[after : after + 2] == ["for", "short"]
        is_apposition = is_closed and before < cue
        rule: Rule = "anywhere" if is_apposition or words[cue] in _SURE_CUES else "initials"
        yield Candidate((start, end), (first, last), rule, is_weak=True)


def _end_of_word(doc: Doc, words: list[str], start: int) -> int:
    """The end of a word that may be several tokens: "NF-kB"."""
    end = start + 1
    limit = min(start + _LONGEST_WORD, len(words))
    while end < limit and _is_joined(doc[end - 1]) and (words[end] in _JOINING or words[end][0].isalnum()):
        end += 1
    return end


def _in_lists(doc: Doc, words: list[str]) -> Iterator[Candidate]:
    """Of "Abbreviations: ALT, alanine aminotransferase; AST, ...". Without a heading it takes two in a row, or
    initials and a colon or "="."""
    items: list[Candidate] = []
    is_list, done = False, 0
    for item in _items(doc, words):
        if match_long_form(doc, item.short, item.long, item.rule) is None:
            continue
        start = item.short[0]
        if items and all(word in _BETWEEN_ITEMS or word.isspace() for word in words[done:start]):
            is_list = True
        else:
            yield from items if is_list else ()
            items = []
            is_list = _HEADING.search(doc[max(0, start - _ITEM) : start].text) is not None
            if not is_list and words[item.short[1]] in _SURE_MARKS:
                short, long_form = (doc[slice(*tokens)].text for tokens in (item.short, item.long))
                is_list = find_initials(lower(long_form), short) == 0
        items.append(item)
        done = item.long[1]
    yield from items if is_list else ()


def _items(doc: Doc, words: list[str]) -> Iterator[Candidate]:
    """A short form, a mark, and all up to the next punctuation mark, line or item."""
    for mark in (number for number, word in enumerate(words) if word in _MARKS and number):
        if words[mark - 1].islower() and words[mark - 2] not in _JOINING:
            continue  # most commas follow a word
        start = _word_before(doc, mark)
        if not looks_short(words[start:mark]) or (words[mark] in _JOINING and not doc[mark - 1].whitespace_):
            continue
        first = mark + 1
        end = _end_of_item(words, first)
        if end > first + 1 or not looks_short(words[first:end]):  # "IL-6, IL-6R" are two names
            yield Candidate((start, mark), (first, end), "whole", is_weak=True)


def _end_of_item(words: list[str], first: int) -> int:
    """Before a remark in brackets; one within the long form, "inner plexiform (synaptic) layer", is a part of it."""
    end, limit = first, min(first + _ITEM, len(words))
    while end < limit and not _ends_item(words, end):
        if words[end] == "(":
            closing = next((number for number in range(end, limit) if words[number] == ")"), limit)
            if closing + 1 >= limit or _ends_item(words, closing + 1):
                break
            end = closing
        end += 1
    return end


def _ends_item(words: list[str], number: int) -> bool:
    word = words[number]
    if word == "and":  # the last item
        mark = words[number + 2 : number + 3]
        return not _MARKS.isdisjoint(mark) and looks_short(words[number + 1 : number + 2])
    return word in _AFTER_ITEM or "\n" in word


# -- what a short form looks like, and which text may be its long form ------------------------------


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
        candidate: the tokens that may end with the long form, which is of limited length.
        rule: which part of them it may be.

    Returns:
        From the token where the match begins; None = no match, or the short form is none.
    """
    start, end = candidate
    least = doc[end - 1].idx + len(doc[end - 1]) - _LONGEST
    while start < end and doc[start].idx < least:
        start += 1
    if start >= end or not is_short_form(doc, short):
        return None
    span = doc[start:end]
    text = lower(span.text)
    itself = doc[slice(*short)].text
    begin = _first_matched(text, lower(itself))
    if begin is None:
        return None
    if (initials := find_initials(text, itself)) is not None:
        begin = initials
    elif rule == "initials":
        return None
    first = max(number for number, token in enumerate(span) if token.idx - span.start_char <= begin)
    if rule == "whole" and any(token.lower_ not in _ARTICLES for token in span[:first]):
        return None
    if first and span[first - 1].text == "(" and ")" in span[first].text[1:-1]:
        first -= 1  # "(R)-alpha-methylhistamine"
    start += first
    return (start, end) if _is_definition(itself, doc[start:end], text[begin:]) else None


def _first_matched(text: str, short: str) -> int | None:
    """Where the first character of a short form is matched, both in lower case."""
    match = len(text)
    for number, character in reversed(list(enumerate(short))):
        if not character.isalnum():
            continue
        match = text.rfind(character, 0, match)
        while number == 0 and match > 0 and text[match - 1].isalnum():
            match = text.rfind(character, 0, match)
        if match < 0:
            return None
    return match


def _is_definition(itself: str, long_form: Span, matched: str) -> bool:
    """Whether a text that has the letters of a short form may be its long form.

    Args:
        itself: the short form.
        long_form: the text.
        matched: the same from where the match begins, in lower case.
    """
    text, words = long_form.text, [token.text for token in long_form]
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
    for initials in (letters, plural):
        for some in (words, without):
            last = some[-len(initials) :]
            if [word[0][0] for word in last] == initials:
                return last[0].start()
    return None


def _begin_words(itself: str, text: str) -> bool:
    """Whether single capitals are the initials of a text's first words: those of "A-T" are,
    the panels of a figure, "(A-D)" or "(e-f)", hardly ever."""
    letters = _WORD.findall(lower(itself))
    words = [word for word in _WORD.findall(text) if word not in FUNCTION_WORDS]
    return itself.isupper() and [word[0] for word in words[: len(letters)]] == letters

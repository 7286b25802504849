"""Abbreviations that a text defines: in brackets, after words such as "hereafter", or in a list."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from spacy.tokens import Doc, Token

from .forms import Rule, Tokens, are_balanced, find_initials, looks_short, lower, match_long_form, other_number

Words = tuple[str, ...]
_BEHIND = re.compile(r"^\(?([^()\s]{2,})\)[-/]")  # another short form, "IS)/" or "(IS)-"

_CLOSING = {"(": ")", "[": "]"}
_QUOTES = frozenset(("''", "``", *"\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb"))
_INSIDE = 8  # tokens in brackets at most; a longer parenthesis is a remark
_SHORT = 3  # tokens in brackets that may be a short form; more of them are a long form
_SURE = (3, 8)  # characters of a short form, and of the one word in brackets that is its long form, at least
_WORD = 5  # tokens of one word at most
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
_CUES = _SURE_CUES | frozenset("or known called termed denoted designated aka a.k.a. i.e. short".split())
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
    definitions: dict[Words, dict[int, Tokens]] = {}  # short form -> where it is defined -> long form
    long_forms = set()
    read = set()  # brackets whose long form is known
    for short, candidate, rule, is_weak in definition_candidates(doc, words):
        key = tuple(words[slice(*short)])
        if candidate in read or (is_weak and key in definitions):
            continue
        long_form = match_long_form(doc, short, candidate, rule)
        if long_form is None or (text := _long_text(doc, long_form).lower()) in long_forms:
            continue
        if key in definitions and find_initials(text, doc[slice(*short)].text) != 0:
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


def _long_text(doc: Doc, long_form: Tokens) -> str:
    """A long form, without another short form that is written together with it:
    "stroke (IS)/transient ischemic attack (TIA)"."""
    text = doc[slice(*long_form)].text
    before = _BEHIND.match(text)
    return text[before.end() :] if before and before[1].isalpha() else text


def _occurrences(words: list[str], definitions: dict[Words, dict[int, Tokens]]) -> Iterator[tuple[int, int, Tokens]]:
    """Where the tokens of each short form occur, or of its other number unless that is defined itself, and the long
    form that is defined there or last before; before the first definition, that one."""
    starts = defaultdict(list)
    for start, word in enumerate(words):
        starts[word].append(start)
    for defined, long_forms in definitions.items():
        other = (*defined[:-1], other_number(defined[-1]))
        for key in (defined,) if other in definitions else (defined, other):
            for start in starts.get(key[0], ()):
                end = start + len(key)
                if tuple(words[start:end]) == key:
                    place = max((place for place in long_forms if place <= start), default=min(long_forms))
                    yield start, end, long_forms[place]


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
                rule: Rule = "initials" if closing == "]" and not looks_short(within) else "anywhere"
                yield Candidate((short_start, short_end), _before(words, bracket, within), rule)
            if not are_balanced(inside) or (closing == "]" and inside[0].startswith(words[bracket - 1])):
                continue  # "loxP [loxP257]", a variety of it
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
    while end < min(start + _WORD, len(words)) and _is_joined(doc[end - 1]) and _is_in_word(words[end]):
        end += 1
    return end


def _is_in_word(word: str) -> bool:
    return word in _JOINING or word[0].isalnum()


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

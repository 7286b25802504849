"""Words around a name, "left sciatica", "insulin gtt" and "headache for two days", and words of lay people for it."""

import re
from itertools import product

from ..types.semantic_types import SEMANTIC_GROUPS
from .other_forms import pairs_in, read_sections, words_in

_LISTS = read_sections("words_around.txt")
_OF_LAY = {word: noun.replace("_", " ") for word, noun in pairs_in(_LISTS["lay"]).items()}
# semantic groups that words go with; "" = of an entity without a semantic type
_FINDING, _DRUG = frozenset({"DISO", "PROC", ""}), frozenset({"CHEM", "PROC", ""})
ANY_GROUP = frozenset({*SEMANTIC_GROUPS, ""})
_MOST = 5  # words, or phrases, on each side
_WORD = re.compile(r"[^\W\d_]{3,}")


def _any_of(name: str) -> str:
    """A pattern of the words of a list, the longest first."""
    words = sorted(words_in(_LISTS[name]), key=len, reverse=True)
    return "(?:" + "|".join(re.escape(word).replace("_", r"[\s-]+") for word in words) + ")"


_NUMBER = r"\d+(?:[.,]\d+)?"
_AMOUNT = rf"{_NUMBER}(?:\s?-\s?{_NUMBER})?\s?{_any_of('units')}(?:/{_any_of('units')})*|x\s?\d+|\d+\s?x"
_TIME = rf"(?:{_any_of('at')}[\s-]+)?(?:(?:{_any_of('counts')}|\d+)[\s-]+)+{_any_of('times')}s?"
_CLAUSE = rf"{_any_of('clauses')}\s.*"  # "that lasted all day"
_BRACKET = r"(?<=\()(?-i:[a-z])[^()]*\)"  # "(mild)", but not "(CAD)"
_SIDE = "(?-i:[RL])"  # "R TKA"
_OTHER = rf"(?P<drug>{_any_of('dose')}|{_AMOUNT})|{_any_of('either')}"
_BEFORE = rf"(?:(?P<finding>{_any_of('before')}|{_SIDE}|{_TIME})|{_OTHER})"
_BEHIND = rf"(?:(?P<finding>{_any_of('behind')}|{_SIDE}|{_TIME}|{_CLAUSE}|{_BRACKET})|{_OTHER})"
_AT_START = re.compile(rf"{_BEFORE}(?:[\s,;:]+|(?<=[a-z]{{2}})-)(?=\S)", re.IGNORECASE)
_AT_END = re.compile(rf"(?<=\S)[\s,;:(-]+{_BEHIND}[\s.,;!)]*$", re.IGNORECASE)


def parts_of(form: str) -> list[tuple[int, int, frozenset[str]]]:
    """The parts of a form without words around them: start, end, and the semantic groups that the words go with. The
    longest first.

    Args:
        form: a surface form, not long: a clause is looked for at each of its words.
    """
    starts, ends = [(0, ANY_GROUP)], [(len(form), ANY_GROUP)]
    while len(starts) <= _MOST and (match := _AT_START.match(form, starts[-1][0])):
        starts.append((match.end(), starts[-1][1] & _goes_with(match)))
    while len(ends) <= _MOST and (match := _AT_END.search(form, 0, ends[-1][0])):
        ends.append((match.start(), ends[-1][1] & _goes_with(match)))
    parts = [(start, end, one & other) for (start, one), (end, other) in product(starts, ends) if start < end]
    return sorted(parts[1:], key=lambda part: part[0] - part[1])


def _goes_with(match: re.Match[str]) -> frozenset[str]:
    return _FINDING if match["finding"] else _DRUG if match["drug"] else _FINDING | _DRUG


def with_nouns(form: str) -> str:
    """A form with a noun for each word of lay people, "nausea" for "nauseated"."""
    return _WORD.sub(lambda word: _OF_LAY.get(word[0].lower(), word[0]), form)

"""Words around a name, "left sciatica", "insulin gtt" and "headache for two days", and words of lay people for it."""

import re
from itertools import product
from typing import NamedTuple

from ..types.semantic_types import SEMANTIC_GROUPS
from .other_forms import pairs_in, read_sections, words_in

_LISTS = read_sections("words_around.txt")
_OF_LAY = {word: noun.replace("_", " ") for word, noun in pairs_in(_LISTS["lay"]).items()}
# semantic groups that words go with; "" = of an entity without a semantic type
_FINDING, _DRUG = frozenset({"DISO", "PROC", ""}), frozenset({"CHEM", "PROC", ""})
_ANY = frozenset({*SEMANTIC_GROUPS, ""})
_MOST = 5  # words, or phrases, on each side
_FEW = 3  # words whose order may be another
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


class Reading(NamedTuple):
    """What is read of a form that names nothing as it is.

    Attributes:
        start, end: the part of it that may be a name.
        word: what is read instead of that part; "" = itself.
    """

    start: int
    end: int
    word: str = ""


Options = list[tuple[Reading, frozenset[str]]]  # of a form, with the semantic groups of what each may name


def options_of(form: str) -> Options:
    """What may be read of a form: all of it, also in another order, "stomach upset" for "upset stomach", and its parts
    without words around them, the longest first.

    Args:
        form: a surface form, not long: a clause is looked for at each of its words.
    """
    whole, words = Reading(0, len(form)), form.split()
    options = [(whole, _ANY)]
    if 1 < len(words) <= _FEW:
        orders = ([*words[1:], words[0]], [words[-1], *words[:-1]])
        options += [(whole._replace(word=" ".join(order)), _ANY) for order in orders]
    starts, ends = [(0, _ANY)], [(len(form), _ANY)]
    while len(starts) <= _MOST and (match := _AT_START.match(form, starts[-1][0])):
        starts.append((match.end(), starts[-1][1] & _goes_with(match)))
    while len(ends) <= _MOST and (match := _AT_END.search(form, 0, ends[-1][0])):
        ends.append((match.start(), ends[-1][1] & _goes_with(match)))
    parts = [(Reading(start, end), one & other) for (start, one), (end, other) in product(starts, ends) if start < end]
    return options + sorted(parts[1:], key=lambda part: part[0].start - part[0].end)


def _goes_with(match: re.Match[str]) -> frozenset[str]:
    return _FINDING if match["finding"] else _DRUG if match["drug"] else _FINDING | _DRUG


def with_nouns(form: str) -> str:
    """A form with a noun for each word of lay people, "nausea" for "nauseated"."""
    return _WORD.sub(lambda word: _OF_LAY.get(word[0].lower(), word[0]), form)

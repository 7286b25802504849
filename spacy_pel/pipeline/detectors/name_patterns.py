"""The names of a knowledge base as they are searched for in text."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # spaCy imports this file for every pipeline
    from ...kb import KnowledgeBase

_LONGEST_ACRONYM = 5  # characters
_SHORTEST_WITH_NUMBER = 4  # characters of a name that may be in another number
_ONTOLOGY = 500  # entities; fewer are taken for a table
_NEAR = 50  # entities to choose an example from
_SHORT = 2  # words of a short name
_BIAS, _OF_LENGTH = 0.08, 1.07  # fitted on eight ontologies by `python -m benchmarks.phrases`
_WORD = re.compile(r"[^\W_]+")


class DistinctNames(NamedTuple):
    """Names to search for, each once.

    Attributes:
        names: in any case.
        acronyms: as they are written.
    """

    names: list[str]
    acronyms: list[str]


def distinct_names(names: Iterable[str]) -> DistinctNames:
    """The names to search for, in any case except for short ones.

    Acronyms are found as they are written: "MI" but not "mi", "AS" but not "as". These are words of two
    characters, and of up to five with a capital letter after the first. Names without letters and single
    characters are left out, as they would be found everywhere.

    Args:
        names: names and aliases; of those that differ only in case, the first one is kept.

    Returns:
        In the order given.
    """
    seen: set[str] = set()
    distinct = DistinctNames([], [])
    for name in names:
        is_exact = is_acronym(name)
        key = name if is_exact else name.lower()
        if key in seen or len(name) < 2 or not any(map(str.isalpha, name)):
            continue
        seen.add(key)
        (distinct.acronyms if is_exact else distinct.names).append(name)
    return distinct


def is_acronym(name: str) -> bool:
    """Whether a name is found only as it is written."""
    if " " in name or len(name) > _LONGEST_ACRONYM:
        return False
    return len(name) <= 2 or any(map(str.isupper, name[1:]))


def has_other_number(name: str, *, before_of: bool = False) -> bool:
    """Whether a name may be searched for in the plural or the singular, too: not if it is very short or in
    capitals ("ALP" is not "ALPS"), nor if the word that would change is an acronym.

    Args:
        name: a name as it is written.
        before_of: whether the word before the first "of" would change, not the last one.

    Returns:
        False for "ALP", "rat", "vitamin A" and "liver ALP".
    """
    if len(name) < _SHORTEST_WITH_NUMBER or name.isupper():
        return False
    words = _WORD.findall(name)
    lower = [word.lower() for word in words]
    word = words[lower.index("of") - 1] if before_of and "of" in lower[1:] else words[-1]
    return not (is_acronym(word) or word.isupper())


def relative_length(surface: str) -> float:
    """The logarithm of a name's length: 0 for 8 characters; the same for 20 and more."""
    return math.log(min(max(len(surface), 1), 20) / 8)


def phrase_probability(surface: str) -> float:
    """How often a name that is found in text, without reading its context, is a mention of its entity. The
    shorter it is, the more often it is another word, or too general to be annotated.

    Args:
        surface: the name as it is in the text.

    Returns:
        0.28 for "HTN", 0.52 for 8 characters, 0.74 for 20 and more.
    """
    return 1.0 / (1.0 + math.exp(-(_BIAS + _OF_LENGTH * relative_length(surface))))


def example_names(kb: "KnowledgeBase", n: int) -> list[str]:
    """Names to show as examples: the first ones of a table; but of an ontology, whose first entities are its
    most general ones, such as "All", short ones from n equal parts.

    Args:
        kb: with at least one entity.
        n: how many; fewer if it has fewer entities.

    Returns:
        Canonical names.
    """
    rows = kb.live_rows
    if len(rows) < _ONTOLOGY:
        return [names[0] for names in kb.names_at(rows[:n])]
    examples = []
    for part in range(n):
        middle = (2 * part + 1) * len(rows) // (2 * n)
        near = [names[0] for names in kb.names_at(rows[middle : middle + _NEAR])]
        examples.append(min(near, key=lambda name: max(len(name.split()), _SHORT)))  # the first short one
    return examples


def example_text(names: Sequence[str]) -> str:
    """A sentence with these names, at least one."""
    *first, last = names
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"This is about {listed}."

"""The names of a knowledge base as they are searched for in text."""

from typing import Iterable, List, NamedTuple, Sequence, Set

_LONGEST_ACRONYM = 5  # characters


class DistinctNames(NamedTuple):
    """Names to search for, each once.

    names (List[str]): in any case.
    acronyms (List[str]): as they are written.
    """

    names: List[str]
    acronyms: List[str]


def distinct_names(names: Iterable[str]) -> DistinctNames:
    """The names to search for, in any case except for short ones.

    Acronyms are found as they are written: "MI" but not "mi", "AS" but not "as". These are words of two
    characters, and of up to five with a capital letter after the first. Names without letters and single
    characters are left out, as they would be found everywhere.

    names (Iterable[str]): names and aliases; of those that differ only in case, the first one is kept.
    RETURNS (DistinctNames): in the order given.
    """
    seen: Set[str] = set()
    distinct = DistinctNames([], [])
    for name in names:
        is_exact = _is_acronym(name)
        key = name if is_exact else name.lower()
        if key in seen or len(name) < 2 or not any(map(str.isalpha, name)):
            continue
        seen.add(key)
        (distinct.acronyms if is_exact else distinct.names).append(name)
    return distinct


def _is_acronym(name: str) -> bool:
    if " " in name or len(name) > _LONGEST_ACRONYM:
        return False
    return len(name) <= 2 or any(map(str.isupper, name[1:]))


def example_text(names: Sequence[Sequence[str]]) -> str:
    """RETURNS (str): a sentence with the canonical name of each entity.

    names (Sequence[Sequence[str]]): names of a few entities, the canonical one first.
    """
    *first, last = [own[0] for own in names]
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"This is about {listed}."

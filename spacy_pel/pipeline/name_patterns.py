"""Patterns that find the names of a knowledge base in text, for spaCy's span_ruler."""

from typing import Dict, Iterable, List, NamedTuple, Sequence, Set

_LONGEST_ACRONYM = 5  # characters
Patterns = List[Dict[str, str]]


class NamePatterns(NamedTuple):
    """For a span_ruler each: its Matcher would try every token pattern at every token, so that names to be
    found as written are phrases too.

    names (List[Dict[str, str]]): for ``phrase_matcher_attr = "LOWER"``.
    acronyms (List[Dict[str, str]]): for ``phrase_matcher_attr = "ORTH"``.
    """

    names: Patterns
    acronyms: Patterns


def name_patterns(names: Iterable[str], *, label: str) -> NamePatterns:
    """Patterns for names, in any case except for short ones.

    Acronyms are found as they are written: "MI" but not "mi", "AS" but not "as". These are words of two
    characters, and of up to five with a capital letter after the first. Names without letters and single
    characters are left out, as they would be found everywhere.

    names (Iterable[str]): names and aliases; repeated ones become one pattern.
    label (str): of the mentions.
    RETURNS (NamePatterns): for ``SpanRuler.add_patterns``.
    """
    seen: Set[str] = set()
    patterns = NamePatterns([], [])
    for name in names:
        is_exact = _is_acronym(name)
        key = name if is_exact else name.lower()
        if key in seen or len(name) < 2 or not any(map(str.isalpha, name)):
            continue
        seen.add(key)
        (patterns.acronyms if is_exact else patterns.names).append({"label": label, "pattern": name})
    return patterns


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

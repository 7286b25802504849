"""Search for names in text: as they are written, with other hyphens and blanks, and in the other number."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from ...candidates.other_forms import in_american, other_numbers, stay_apart
from ...util.names import Runs, compatible, runs_of
from .boundaries import has_blank_line

if TYPE_CHECKING:  # spaCy imports this file for every pipeline
    from ...kb import KnowledgeBase


_OF = "of"
_SIGNS = str.maketrans("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2018\u2019\u201b\u2032`", "-------'''''")
_DASHES = ("\u2014", "\u2015")  # between words, not within them
_OPENING = re.compile(r"[(\[{]*$")
_CLOSING = re.compile(r"[()\[\]{}+%]*")
_NUMBER = re.compile(r"-\d+(-|(?!\w))")
_SOFT = frozenset(["", " ", "-", "'"])
_ITEM = re.compile(r"[\r\n]\s*-")
_NEAR = 10  # characters that a number after a name is in
_INITIAL = 2  # letters of a word that may have a period: "E. coli", "St. John"
_Form = tuple[str, int | None]  # normal form, and the word that is in another number
_other_numbers = lru_cache(maxsize=1 << 16)(other_numbers)
_GLUED = 3  # letters of a word that a number may be glued to or follow: "type2", "COVID 19", but not "PD-1"
_LONGEST_ACRONYM = 5  # characters
_SHORTEST_WITH_NUMBER = 4  # characters of a name that may be in another number
_BIAS, _OF_LENGTH = 0.08, 1.07  # fitted on eight ontologies by `python -m benchmarks.phrases`
_WORD = re.compile(r"[^\W_]+")


class Mention(NamedTuple):
    """A possible mention.

    Attributes:
        start, end: its characters in the text, end exclusive.
        first, last: its words in the text, ``last`` exclusive.
        n_marks: what makes it less likely: commas and the like within it, another number.
    """

    start: int
    end: int
    first: int
    last: int
    n_marks: int = 0


def best_reading(mentions: Sequence[Mention], n_words: int) -> list[Mention]:
    """Choose mentions that do not overlap and cover the most words. Of two such readings the one with longer
    mentions counts, then the one with fewer marks within them, then the one that begins earlier.

    Args:
        mentions: of two with the same words, the first one counts.
        n_words: in the text.

    Returns:
        In order.
    """
    by_last: dict[int, list[Mention]] = {}
    for mention in mentions:
        by_last.setdefault(mention.last, []).append(mention)
    values: list[tuple[int, int, int]] = [(0, 0, 0)]  # of the best reading of the first words
    chosen: list[Mention | None] = [None]
    for last in range(1, n_words + 1):
        values.append(values[-1])
        chosen.append(None)
        for mention in by_last.get(last, ()):
            covered, squares, marks = values[mention.first]
            n = last - mention.first
            value = (covered + n, squares + n * n, marks - mention.n_marks)
            if value > values[last]:
                values[last], chosen[last] = value, mention
    reading: list[Mention] = []
    end = n_words
    while end:
        best = chosen[end]
        if best is not None:
            reading.append(best)
        end = end - 1 if best is None else best.first
    return reading[::-1]


def is_acronym(name: str) -> bool:
    """Whether a name is found only as it is written: a word of two characters, or of up to five with a capital letter
    after the first."""
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


def _words_of(runs: Runs) -> list[str]:
    """The words that are compared: those of both Englishes are one."""
    return list(map(in_american, runs.words))


class NameTable:
    """Names by normal form, to search text for.

    Acronyms are found as they are written: "MI" but not "mi", "AS" but not "as". Names without letters and single
    characters are left out, as they would be found everywhere.

    Args:
        names: names and aliases; of those that differ only in case, the first one is kept.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: dict[str, tuple[str, ...]] = {}  # by normal form; () for the beginning of a longer name
        keys: set[str] = set()
        for name in names:
            key = name if is_acronym(name) else name.lower()
            if key in keys or len(name) < 2 or not any(map(str.isalpha, name)):
                continue
            keys.add(key)
            words = _words_of(runs_of(name))
            form = " ".join(words)
            self._names[form] = (*self._names.get(form, ()), name)
            for beginning in accumulate(words[:-1], "{} {}".format):
                self._names.setdefault(beginning, ())

    def __iter__(self) -> Iterator[str]:
        """The names, distinct."""
        return chain.from_iterable(self._names.values())

    def __contains__(self, name: str) -> bool:
        """Whether there is a name of the same normal form."""
        return bool(self._names.get(" ".join(_words_of(runs_of(name)))))

    def search(self, text: str, runs: Runs) -> Iterator[Mention]:
        """Find names in a text, overlapping ones, too, but none inside a longer word.

        Args:
            text: the text.
            runs: of the text.

        Yields:
            By place.
        """
        _, starts, ends = runs
        words = _words_of(runs)
        gaps = [text[end:start] for end, start in zip(ends, starts[1:], strict=False)]
        marks = [_mark(gap, word) for gap, word in zip(gaps, words, strict=False)]
        for first in range(len(words)):
            if first and not gaps[first - 1]:
                continue  # within a word
            forms: list[_Form] = [("", None)]
            for last in range(first + 1, len(words) + 1):
                forms = list(self._longer(forms, words[last - 1], last))
                for form, changed in forms:
                    for name in self._names[form]:
                        mention = _read(name, text, runs, marks, first, last, changed)
                        if mention is not None:
                            yield mention
                if not forms or last == len(words) or marks[last - 1] is None:
                    break

    def _longer(self, forms: list[_Form], word: str, last: int) -> Iterator[_Form]:
        """Beginnings of names, one word longer. One word may be in the
        other number: the last one, or the one before "of"."""
        for form, changed in forms:
            if changed == last - 2 and word != _OF:
                continue
            start = f"{form} " if form else ""
            if (longer := start + word) in self._names:
                yield longer, changed
            if changed is None:
                for other in _other_numbers(word):
                    if (longer := start + other) in self._names:
                        yield longer, last - 1


def _read(
    name: str, text: str, runs: Runs, marks: list[str | None], first: int, last: int, changed: int | None
) -> Mention | None:
    """The name at these runs, which have its normal form; None = the text has
    other signs there, or a longer word, or an acronym in another case."""
    words, starts, ends = runs
    name_marks, opening, closing, cased = _parts(name)
    start, end = starts[first] - len(opening), ends[last - 1] + len(closing)
    if text[max(0, start) : starts[first]] != opening or text[ends[last - 1] : end] != closing:
        return None
    between = marks[first : last - 1]
    if not all(map(_agree, between, name_marks, words[first:last], words[first + 1 : last])):
        return None
    surface = text[starts[first] : ends[last - 1]]
    if changed is not None:
        is_last = changed == last - 1
        if not is_last and (changed == last - 2 or _OF in words[first:changed]):
            return None
        if not has_other_number(name, before_of=not is_last) or is_acronym(surface):
            return None
    elif cased is not None and runs_of(surface, fold=False).words != cased:
        return None
    if first and not _is_edge(text[ends[first - 1] : start], text[start], words[first - 1]):
        return None
    if last < len(words) and not _is_kind(surface, text[end : end + _NEAR]):
        if not _is_edge(text[end : starts[last]][::-1], text[end - 1], words[last]):
            return None
    n_marks = sum(mark not in _SOFT for mark in between) + (changed is not None)
    return Mention(start, end, first, last, n_marks)


@lru_cache(maxsize=1 << 16)
def _parts(name: str) -> tuple[list[str | None], str, str, list[str] | None]:
    """Of a name the marks between its runs, the brackets before and after them, and, of an
    acronym, the runs in their own case."""
    words, starts, ends = runs_of(name)
    marks = [_mark(name[end:start], word) for end, start, word in zip(ends, starts[1:], words, strict=False)]
    opening, closing = _OPENING.search(name[: starts[0]]), _CLOSING.match(name[ends[-1] :])
    cased = runs_of(name, fold=False).words if is_acronym(name) else None
    return marks, opening[0], closing[0], cased  # type: ignore[index]


def _mark(gap: str, before: str) -> str | None:
    """What is between two runs of a text: "", " ", "-" or "'", which may stand for
    each other, or other signs, without blanks; None = no name goes across."""
    if gap in _SOFT:
        return gap
    if has_blank_line(gap):
        return None
    plain = compatible(gap).translate(_SIGNS)
    signs = "".join(plain.split())
    if signs == "-" and plain != "-":
        return None if _ITEM.match(plain) else " - "
    if signs == "." and before.isalpha() and len(before) <= _INITIAL:
        return " "
    return signs or plain[:1] and " "


def _agree(mark: str | None, name_mark: str | None, before: str, after: str) -> bool:
    """Whether a name that has ``name_mark`` between two runs is read where a text has
    ``mark``."""
    if mark == name_mark or mark not in _SOFT:
        return mark == name_mark
    if mark and name_mark:
        return True
    either = mark or name_mark
    if either not in _SOFT or stay_apart(before, after):
        return False
    return either == "-" or any(len(word) >= _GLUED and word.isalpha() for word in (before, after))


def _is_kind(surface: str, rest: str) -> bool:
    """Whether a number says which kind is meant: "HIV" in "HIV-1", but not "glucose" in
    "glucose-6-phosphate".

    Args:
        surface: a name in text.
        rest: what follows.
    """
    number = _NUMBER.match(rest.translate(_SIGNS))
    return number is not None and len(surface) >= _GLUED and (number[1] != "-" or surface.isupper())


def _is_edge(gap: str, edge: str, word: str) -> bool:
    """Whether a name may end at these signs: not within a number or a chemical's name, as
    "methyl" in "1-methyl".

    Args:
        gap: the signs, the one next to the name last.
        edge: the name's character there.
        word: the run on the other side.
    """
    plain = gap.translate(_SIGNS)
    if plain in (".", ","):
        return not (edge.isdigit() and word.isdigit())
    if not plain.endswith("-") or gap in _DASHES or any(map(str.isspace, plain)):
        return bool(gap)
    return plain == "-" and word.isalpha() and len(word) > 1


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


def example_text(kb: "KnowledgeBase", n: int) -> str:
    """A sentence with the names of n entities, evenly spread over the knowledge base: the first ones of an ontology
    are its most general ones, such as "All".

    Args:
        kb: with at least one entity.
        n: how many; fewer if it has fewer entities.
    """
    rows = kb.live_rows
    *names, last = (names[0] for names in kb.names_at(rows[:: max(1, len(rows) // n)][:n]))
    return f"This is about {', '.join(names)} and {last}." if names else f"This is about {last}."

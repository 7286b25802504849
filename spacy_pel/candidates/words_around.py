"""A form that names nothing, read without the words around a name in it, "left sciatica" and "insulin gtt", with a
noun for a word of lay people, "nauseated", and with a slip mended, "diarhea"."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from os.path import commonprefix
from typing import NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from ..index.annotated_text import AliasPriors
from ..kb import KnowledgeBase
from ..types.semantic_types import type_group
from ..util import counted_form
from .evidence import SurfaceForms
from .name_evidence import rows_by_name
from .other_forms import pairs_in, read_sections, words_in

_LISTS = read_sections("words_around.txt")
_OF_LAY = {word: noun.replace("_", " ") for word, noun in pairs_in(_LISTS["lay"]).items()}
# semantic groups that words go with
_FINDING, _DRUG = frozenset({"DISO", "PROC"}), frozenset({"CHEM", "PROC"})
_ANY = _FINDING | _DRUG
_FELT = frozenset({"PHYS"})  # anger, of a word of lay people
_UNIT = r"(?:mcg|mg|[µμu]g|kg|g|gm|ml|units?|u|iu|meq|%)(?:/(?:kg|ml|h|hr|day|d|min))*"
_AMOUNT = rf"\d+(?:[.,]\d+)?(?:\s?-\s?\d+(?:[.,]\d+)?)?\s?{_UNIT}|x\s?\d+|\d+\s?x"
_MOST = 5  # words, or phrases, on each side
_LONGEST = 100  # characters of a form that is taken apart; a sentence is no name
_WORD = re.compile(r"[^\W\d_]{3,}")
_SHORTEST, _LONG = 6, 9  # letters of a word with one slip, and with two
_NEAREST = 4  # words
_ENDING, _SYLLABLE = 2, 3  # letters
_RARE = 3  # a word of fewer names is hardly what a slip means
_CONSONANTS = str.maketrans("bfpvcgjkqsxzdtlmnraehiouyw", "111122222222334556--------")
_DOUBLE = re.compile(r"(\d)\1")
_HARDLY = 0.9  # of the places of a form, those where none is marked
_KEPT = 50_000  # forms
_CHUNK = 16_384  # entities read at a time


def _pattern(name: str) -> str:
    words = sorted(words_in(_LISTS[name]), key=len, reverse=True)
    return "|".join(re.escape(word).replace("_", r"[\s-]+") for word in words)


_SIDE = "(?-i:[RL])"  # "R TKA"
_COUNT = r"(?:about|around|the|my|this|past|last|next|first|few|several|couple|of|an?|each|every|one|two|three|four|five|six|\d+)"
_TIME = rf"(?:(?:for|in|during|after|over|within|since|at|on)[\s-]+)?(?:{_COUNT}[\s-]+)+(?:second|minute|hour|day|night|week|month|year)s?"
_CLAUSE = r"(?:that|which|who|is|are|was|were|has|have|had|can|could|would|will|seems?|started|starts|happens)\s.*"
_BEFORE, _BEHIND = (
    f"(?:(?P<finding>{_pattern(name)}|{_SIDE}{more})|(?P<drug>{_pattern('dose')}|{_AMOUNT}))" for name, more in (("before", ""), ("behind", rf"|{_TIME}|{_CLAUSE}"))
)
_AT_START = re.compile(rf"{_BEFORE}(?:[\s,;:]+|(?<=[a-z]{2})-)(?=\S)", re.IGNORECASE)
_AT_END = re.compile(rf"(?<=\S)[\s,;:(-]+{_BEHIND}[\s.,;!)]*$", re.IGNORECASE)


class Reading(NamedTuple):
    """What of a form is read.

    Attributes:
        start, end: the part of it that may be a name.
        word: what is read instead of that part; "" = itself.
    """

    start: int
    end: int
    word: str = ""


class FormReader:
    """Reads surface forms; a form that is a name, stands for one or is annotated is read as it is.

    Args:
        kb: has the names.
        priors: counts of annotated text; None = there is none.
    """

    def __init__(self, kb: KnowledgeBase, priors: AliasPriors | None):
        self.kb, self.priors = kb, AliasPriors.empty() if priors is None else priors
        self._readings: dict[str, Reading] = {}

    def __call__(self, surfaces: Sequence[str]) -> list[Reading]:
        """One for each surface form."""
        if len(self._readings) > _KEPT:
            self._readings = {}
        if new := [surface for surface in dict.fromkeys(surfaces) if surface not in self._readings]:
            self._readings.update(zip(new, self._read(new), strict=True))
        return [self._readings[surface] for surface in surfaces]

    def _read(self, surfaces: Sequence[str]) -> Iterator[Reading]:
        named = self._groups(surfaces, derived=True)
        for surface, groups in zip(surfaces, named, strict=True):
            whole = Reading(0, len(surface))
            is_lay = _with_nouns(surface) != surface and self._groups([surface]) == [None]
            if (groups is not None and not is_lay) or len(surface) > _LONGEST:
                yield whole
                continue
            parts = [(whole, _ANY), *parts_of(surface)]
            yield self._first(surface, parts) or self._first(surface, parts, mended=True) or whole

    def _first(
        self, surface: str, parts: Sequence[tuple[Reading, frozenset[str]]], *, mended: bool = False
    ) -> Reading | None:
        """The longest part that names an entity of its groups, as it is or with its words mended."""
        readings = [
            (part._replace(word=word), groups)
            for part, groups in parts
            for word in (self._mended(surface[part.start : part.end]) if mended else [""])
        ]
        named = self._groups([reading.word or surface[reading.start : reading.end] for reading, _ in readings])
        for (reading, groups), of_reading in zip(readings, named, strict=True):
            if of_reading is not None and not (groups | _FELT if mended else groups).isdisjoint(of_reading):
                return reading
        return None

    def _groups(self, forms: Sequence[str], *, derived: bool = False) -> list[set[str] | None]:
        """The semantic groups of the entities that each form names; None = it names none.

        Args:
            derived: the forms may be derived from names, too, or only be counted as none.
        """
        if not forms:
            return []
        distinct, which = SurfaceForms.of(forms)
        ways = rows_by_name(self.kb, distinct)
        kb_rows, counts, offsets = self.priors.counts([form.counted for form in distinct], normalized=True)
        found: list[set[str] | None] = []
        for number, (start, end) in enumerate(pairwise(offsets.tolist())):
            named = np.concatenate([of_way[number] for way, of_way in ways.items() if derived or way != "derivation"])
            of_form, n = kb_rows[start:end], counts[start:end]
            if n[of_form < 0].sum() > _HARDLY * n.sum():  # annotated text hardly means an entity by it
                named = named[:0]
            elif start < end:
                named = np.append(named, of_form[np.where(of_form < 0, 0, n).argmax()])
            groups = {type_group(types) for types in self.kb.types_at(np.unique(named))} if len(named) else None
            found.append(set() if groups is None and derived and start < end else groups)
        return [found[number] for number in which.tolist()]

    def _mended(self, form: str) -> list[str]:
        """The form with nouns for words of lay people and one unknown word mended, the likeliest first."""
        lay = _with_nouns(form)
        forms = [] if lay == form else [lay]
        words = self.kb.memo.get("words") or self._read_words()
        for match in _WORD.finditer(lay):
            word = match[0].lower()
            if len(word) >= _SHORTEST and (match[0][1:].islower() or lay.isupper()) and word not in words[word[0]]:
                of_letter = words[word[0]]
                near = process.extract(
                    word, of_letter.keys(), scorer=OSA.distance, score_cutoff=1 + (len(word) >= _LONG), limit=None
                )
                slips = [(n, -of_letter[other], other) for other, n, _ in near if of_letter[other] >= _RARE and is_slip(word, other, int(n))]
                forms += [lay[: match.start()] + slip + lay[match.end() :] for *_, slip in sorted(slips)[:_NEAREST]]
        return forms

    def _read_words(self) -> dict[str, dict[str, int]]:
        """How many names have each word, by its first letter; read when first asked for."""
        words: dict[str, dict[str, int]] = defaultdict(dict)
        rows = self.kb.live_rows
        for start in range(0, len(rows), _CHUNK):
            names, _ = self.kb.normalized_names_at(rows[start : start + _CHUNK])
            for word, n in Counter(" ".join(names).split()).items():
                if len(word) >= _SHORTEST - 1 and word.isalpha():
                    words[word[0]][word] = words[word[0]].get(word, 0) + n
        self.kb.memo["words"] = words
        return words


def parts_of(surface: str) -> list[tuple[Reading, frozenset[str]]]:
    """The parts of a form without words around them, the longest first, with the groups that these words go with."""
    starts, ends = [(0, _ANY)], [(len(surface), _ANY)]
    while len(starts) <= _MOST and (match := _AT_START.match(surface, starts[-1][0])):
        starts.append((match.end(), starts[-1][1] & _goes_with(match)))
    while len(ends) <= _MOST and (match := _AT_END.search(surface, 0, ends[-1][0])):
        ends.append((match.start(), ends[-1][1] & _goes_with(match)))
    parts = [(Reading(first, last), some & others) for (first, some), (last, others) in product(starts, ends)]
    return sorted((part for part in parts[1:] if part[0].start < part[0].end), key=lambda part: part[0].start - part[0].end)


def _goes_with(match: re.Match[str]) -> frozenset[str]:
    return _FINDING if match["finding"] else _DRUG


def _with_nouns(form: str) -> str:
    return _WORD.sub(lambda word: _OF_LAY.get(word[0].lower(), word[0]), form)


def is_slip(word: str, other: str, n: int) -> bool:
    """Whether a word may be another one with n slips, and no word of its own: two slips keep its sound, one does, too,
    or leaves out, adds or exchanges a letter. None is an ending, "abusers" and "abuses", or another letter in the first
    syllable, "macro" and "micro"."""
    start = len(commonprefix([word, other]))
    if max(len(word), len(other)) - start <= _ENDING or (start < _SYLLABLE and len(word) == len(other)):
        return False
    return _sound(word) == _sound(other) or (n == 1 and (len(word) != len(other) or sorted(word) == sorted(other)))


def _sound(word: str) -> str:
    """What is heard of a word's consonants."""
    return _DOUBLE.sub(r"\1", word.replace("ph", "f").replace("tion", "sion").translate(_CONSONANTS)).replace("-", "")

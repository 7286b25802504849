"""Reads a form that names nothing as one that does: without the words around a name, with nouns for words of lay
people, in another order, or with a slip mended, "diarhea"."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from os.path import commonprefix

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from ..index.annotated_text import AliasPriors
from ..kb import KnowledgeBase
from ..types.semantic_types import semantic_types
from ..util import normalize_alias
from .evidence import SurfaceForms
from .name_evidence import NAMED, rows_by_name
from .own_words import OwnWords
from .words_around import Options, Reading, options_of, with_nouns

_GROUP = {kind: row.group for kind, row in semantic_types().items()}
_MENDED, _FELT = frozenset({"DISO", "CHEM", "PROC", ""}), frozenset({"PHYS"})  # groups of what other words may mean
_LONGEST = 100  # characters of a form that is taken apart; a sentence is no name
_HARDLY = 0.9  # of the places of a form, those where none is marked
_KEPT = 50_000  # forms
_CHUNK = 16_384  # entities read at a time
_WORD = re.compile(r"[^\W\d_]{6,}")  # that may have a slip
_LONG = 9  # letters of a word with two slips
_SHORTEST, _SHORTEST_WORD = 3, 5  # letters of each half of a word that is divided, of a word that is meant
_NEAREST = 4  # words that a slip may mean
_FREQUENT = 3  # names; of fewer, a short word is hardly what a slip means
_ENDING, _SYLLABLE = 2, 3  # letters
_HEARD = str.maketrans("bfpvcgjkqsxzdtlmnraehiouyw", "111122222222334556--------")
_DOUBLE = re.compile(r"(\d)\1")


class FormReader:
    """Reads surface forms. A form that is a name, stands for one or is annotated is read as it is.

    Args:
        kb: has the names.
        priors: counts of annotated text; None = there is none.
        own_words: read what names nothing as a name of the same words first, see ``OwnWords``.
    """

    def __init__(self, kb: KnowledgeBase, priors: AliasPriors | None, *, own_words: bool = False):
        self.kb, self.priors = kb, AliasPriors.empty() if priors is None else priors
        self.own_words = own_words
        self.readings: dict[str, Reading | None] = {}

    def read(self, forms: Sequence[str]) -> dict[str, Reading | None]:
        """What is read of surface forms, and of others before; None = it is read as it is."""
        readings = self.readings if len(self.readings) <= _KEPT else {}
        new = list(dict.fromkeys(form for form in forms if form not in readings))
        unknown, read = list(self._unknown(new)), {}
        if self.own_words and unknown:
            own = OwnWords.of(self.kb)
            named = {form: own.name_of(normalize_alias(form)) for form in unknown}
            read = {form: Reading(0, len(form), name) for form, name in named.items() if name}
        parts = {form: options_of(form) for form in unknown if form not in read}
        read |= self._first(parts)
        mended = {form: self._mended(form, parts[form]) for form in parts if form not in read}
        readings |= dict.fromkeys(new) | read | self._first(mended)
        self.readings = readings
        return readings

    def _unknown(self, forms: Sequence[str]) -> Iterator[str]:
        """The forms that name nothing, nor stand for a name as more than words of lay people."""
        lay = [form for form in forms if with_nouns(form) != form]
        unnamed = {form for form, groups in zip(lay, self._groups(lay), strict=True) if groups is None}
        for form, groups in zip(forms, self._groups(forms, derived=True), strict=True):
            if (groups is None or form in unnamed) and len(form) <= _LONGEST:
                yield form

    def _first(self, options: dict[str, Options]) -> dict[str, Reading]:
        """Of each form the first option that names an entity of its groups, where one does."""
        flat = [(form, *option) for form, of_form in options.items() for option in of_form]
        named = self._groups([reading.word or form[reading.start : reading.end] for form, reading, _ in flat])
        found: dict[str, Reading] = {}
        for (form, reading, groups), own in zip(flat, named, strict=True):
            if own is not None and not groups.isdisjoint(own):
                found.setdefault(form, reading)
        return found

    def _groups(self, forms: Sequence[str], *, derived: bool = False) -> list[set[str] | None]:
        """The semantic groups of the entities that each form names; None = it names none.

        Args:
            derived: a form may be derived from a name, too, or be counted as no mention.
        """
        if not forms:
            return []
        distinct, which = SurfaceForms.of(forms)
        ways = rows_by_name(self.kb, distinct, NAMED if derived else NAMED[:-1])
        kb_rows, counts, offsets = self.priors.counts([form.counted for form in distinct], normalized=True)
        rows: list[list[int]] = []
        for number, (start, end) in enumerate(pairwise(offsets.tolist())):
            named = {row for rows_of in ways.values() for row in rows_of[number].tolist()}
            of_form, n = kb_rows[start:end], counts[start:end]
            if n[of_form < 0].sum() > _HARDLY * n.sum():  # annotated text hardly means an entity by it
                named = set()
            elif start < end:
                named.add(int(of_form[np.where(of_form < 0, 0, n).argmax()]))
            rows.append(sorted(named))
        types = iter(self.kb.types_at([row for of_form in rows for row in of_form]))
        groups = [{_GROUP.get(kind, "") for _ in of_form for kind in next(types) or [""]} for of_form in rows]
        is_known = [bool(of_form) or (derived and n > 0) for of_form, n in zip(rows, np.diff(offsets), strict=True)]
        return [groups[number] if is_known[number] else None for number in which.tolist()]

    def _mended(self, form: str, parts: Options) -> Options:
        """The parts of a form with other words, the longest part and the likeliest words first."""
        return [
            (reading._replace(word=word), (groups & _MENDED) | _FELT)
            for reading, groups in parts
            if not reading.word
            for word in self._others(form[reading.start : reading.end])
        ]

    def _others(self, form: str) -> Iterator[str]:
        """A form with nouns for words of lay people, or with an unknown word divided or mended."""
        form, old = with_nouns(form), form
        if form != old:
            yield form
        for match in _WORD.finditer(form):
            of_letter, word = self._words[match[0][0].lower()], match[0].lower()
            if word in of_letter or not (match[0][1:].islower() or form.isupper()):
                continue
            before, after = form[: match.start()], form[match.end() :]
            for at in range(_SHORTEST, len(word) - _SHORTEST + 1):
                yield f"{before}{word[:at]} {word[at:]}{after}"
            n_slips = 1 + (len(word) >= _LONG)
            near = process.extract(word, of_letter.keys(), scorer=OSA.distance, score_cutoff=n_slips, limit=None)
            slips = [
                (n, -of_letter[other], other)
                for other, n, _ in near
                if is_slip(word, other, int(n)) and (of_letter[other] >= _FREQUENT or len(word) >= _LONG)
            ]
            for *_, other in sorted(slips)[:_NEAREST]:
                yield before + other + after

    @property
    def _words(self) -> dict[str, dict[str, int]]:
        """How many names have each word, by its first letter; read when first asked for."""
        if "words" not in self.kb.memo:
            counts: Counter[str] = Counter()
            rows = self.kb.live_rows
            for start in range(0, len(rows), _CHUNK):
                counts.update(" ".join(self.kb.normalized_names_at(rows[start : start + _CHUNK])[0]).split())
            words: dict[str, dict[str, int]] = defaultdict(dict)
            for word, n in counts.items():
                if len(word) >= _SHORTEST_WORD and word.isalpha():
                    words[word[0]][word] = n
            self.kb.memo["words"] = words
        return self.kb.memo["words"]  # type: ignore[no-any-return]


def is_slip(word: str, other: str, n: int) -> bool:
    """Whether a word may be another one with n slips, and no word of its own: two slips keep its sound; one does, too,
    or leaves out, adds or exchanges a letter. None is an ending, "abusers" and "abuses", or another letter in the first
    syllable, "macro" and "micro"."""
    start = len(commonprefix([word, other]))
    if max(len(word), len(other)) - start <= _ENDING or (start < _SYLLABLE and len(word) == len(other)):
        return False
    return _heard(word) == _heard(other) or (n == 1 and (len(word) != len(other) or sorted(word) == sorted(other)))


def _heard(word: str) -> str:
    """What is heard of a word's consonants."""
    return _DOUBLE.sub(r"\1", word.replace("ph", "f").replace("tion", "sion").translate(_HEARD)).replace("-", "")

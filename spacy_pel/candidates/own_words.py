"""Phrases that the names of a knowledge base exchange: where "b cell" and "b lymphocyte" stand in names of the same
entities that are otherwise the same, "naive B-lymphocyte" means "naive B cell"."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, combinations, pairwise
from os.path import commonprefix

from ..kb import KnowledgeBase

_FUNCTION_WORDS = frozenset("and in of the".split())
_MOST_NAMES = 1_000_000  # of a knowledge base that is read in this way: a million take a minute
_COMPARED = 12  # names of an entity
_FEWEST = 3  # entities that have names with both phrases
_SURE = 0.9  # of the names that an exchange leads to, those of the same entity
_STEPS = 2  # exchanges at most
_SEVERAL = -1  # entities have names of these words
_NUMBER = re.compile(r"\d+")
# words for 1 and so on; "i" and "x" are letters more often
_IN_WORDS = "first one", "second two ii", "third three iii", "fourth four iv", "fifth five v", "vi", "vii", "viii", "ix"
_IN_DIGITS = {word: str(n) for n, words in enumerate(_IN_WORDS, start=1) for word in words.split()}

Words = tuple[str, ...]
Exchange = tuple[Words, Words]  # a phrase, and what stands in its place


class OwnWords:
    """Reads a form as the name that has the same words, in whatever order, or phrases in their place that other names
    of the knowledge base exchange for them.

    Args:
        kb: has the names.
    """

    def __init__(self, kb: KnowledgeBase):
        self._names: dict[str, tuple[int, str]] = {}  # by their words: the row of the entity, and the name
        self._exchanges: dict[str, list[Exchange]] = {}  # by the first word
        if len(kb) + kb.meta["counts"]["aliases"] > _MOST_NAMES:
            return
        names, offsets = kb.normalized_names_at(kb.live_rows)
        words, entities = list(map(_words, names)), Counter[Exchange]()
        rows_of = defaultdict[Words, list[int]](list)
        for row, (start, end) in zip(kb.live_rows.tolist(), pairwise(offsets.tolist()), strict=True):
            for own, name in zip(words[start:end], names[start:end], strict=True):
                rows_of[own].append(row)
                if self._names.setdefault(key := _key(own), (row, name))[0] != row:
                    self._names[key] = _SEVERAL, name
            pairs = combinations(filter(None, words[start : min(end, start + _COMPARED)]), 2)
            found = {_difference(one, other) for one, other in pairs if one[0] == other[0] or one[-1] == other[-1]}
            entities.update(found | {exchange[::-1] for exchange in found})
        n_names = Counter(chain.from_iterable(words))  # by word
        rarity = {phrase: min(map(n_names.__getitem__, phrase), default=len(names)) for phrase, _ in entities}
        # the two ways of an exchange meet the same pairs of names: fewer are tried from the rarer phrase
        allowed = (one for one, n in entities.items() if n >= _FEWEST and _is_allowed(*one))
        self._exchanges = _by_word(one for one in allowed if (rarity[one[0]], one) < (rarity[one[1]], one[::-1]))
        led, same = Counter[Exchange](), Counter[Exchange]()
        for own, rows in rows_of.items():
            for exchange, other in self._exchanged(own):
                if others := rows_of.get(other):
                    for one, start, to in ((exchange, rows, others), (exchange[::-1], others, rows)):
                        led[one] += len(start)
                        same[one] += start.count(to[-1])  # of several entities the last
        self._exchanges = _by_word(one for one, n in same.items() if one[0] and n >= max(_FEWEST, _SURE * led[one]))

    @classmethod
    def of(cls, kb: KnowledgeBase) -> "OwnWords":
        """Those of a knowledge base, learned when first asked for, which takes seconds, and again after a change."""
        memo = kb.memo  # another object after each change
        if "own_words" not in memo:
            memo["own_words"] = cls(kb)
        return memo["own_words"]  # type: ignore[no-any-return]

    def name_of(self, form: str) -> str | None:
        """The name, in normal form; None = there is none, or names of several entities.

        Args:
            form: in normal form.
        """
        reached = {_words(form)}
        for _ in range(_STEPS + 1):
            if found := sorted({self._names[key] for key in map(_key, reached) if key in self._names}):
                return found[0][1] if found[0][0] == found[-1][0] != _SEVERAL else None
            reached = {other for words in reached for _, other in self._exchanged(words)}
        return None

    def _exchanged(self, words: Words) -> Iterator[tuple[Exchange, Words]]:
        """What each exchange makes of a name."""
        for place, word in enumerate(words):
            for exchange in self._exchanges.get(word, ()):
                end = place + len(exchange[0])
                if words[place:end] == exchange[0] != words:  # something stays the same
                    yield exchange, words[:place] + exchange[1] + words[end:]


def _is_allowed(phrase: Words, other: Words) -> bool:
    """Whether there is something to exchange, and all numbers stay: "3" may become "iii"."""
    return bool(phrase) and _numbers(phrase) == _numbers(other)


def _numbers(words: Words) -> list[str]:
    return _NUMBER.findall(" ".join(_IN_DIGITS.get(word, word) for word in words))


def _by_word(exchanges: Iterable[Exchange]) -> dict[str, list[Exchange]]:
    found = defaultdict(list)
    for exchange in exchanges:
        found[exchange[0][0]].append(exchange)
    return found


def _words(name: str) -> Words:
    return tuple(word for word in name.split() if word not in _FUNCTION_WORDS)


def _key(words: Words) -> str:
    """The words in any order, unless that could give them each other's numbers: "grade 1 stage 2"."""
    return " ".join(words if len({*_numbers(words)}) > 1 else sorted(words))


def _difference(one: Words, other: Words) -> Exchange:
    """The phrases between what two names have in common at both ends."""
    start = len(commonprefix([one, other]))
    end = len(commonprefix([one[start:][::-1], other[start:][::-1]]))
    return one[start : len(one) - end], other[start : len(other) - end]

"""Words and numbers that contradict each other: high and low, left and right, acute and chronic, type 1 and type 2.
To an encoder, "hypotension" is near "high blood pressure"; its direction rules it out."""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...kb import KnowledgeBase
from ...types import Rows, Scores
from .word_lists import read_sections

# words that begin or end so; "macrophage" is no larger than "microtubule"
_SIZED = "(?=album|ceph|corn|cyt|dactyl|dont|gloss|gnath|nod|orch|pen|som|sten|thal|tia|vasc|vesic)"
_PARTS = {
    "hyper-": "hyper(?!ic[iu])",
    "hypo-": "hypo(?!blast|chlor[^e]|chond|derm|gastr|gloss|phar|phys|thal(?!em)|thes)",
    "macro-": "macro" + _SIZED,
    "micro-": "micro" + _SIZED,
    "tachy-": "tachy",
    "brady-": "brady",
    "-ocytosis": "(?:erythr|granul|leuc|leuk|lymph|mon|thromb)ocytosis$",
    "-ophilia": "(?:bas|eosin|neutr)ophilia$",
    "-penia": r"\w+penia$",
}
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_BITS = 64


def opposites(kb: KnowledgeBase, forms: Sequence[str], kb_rows: Rows) -> Scores:
    """Which candidates contradict the surface form of their mention? Those of which a name says the other side of a
    contrast, and none says the side of the form, or of which each name has numbers, but none of the form's.

    Args:
        kb: stores the names in normal form.
        forms: (n,), of the mentions, in normal form.
        kb_rows: (n, k), their candidates, -1 = none.

    Returns:
        (n, k), 1 for these candidates, else 0.
    """
    opposite = np.zeros(kb_rows.shape, dtype=np.float32)
    said = np.array([_said(form) for form in forms], dtype=np.uint64).reshape(-1, 3)
    mentions, places = np.nonzero((kb_rows >= 0) & said.any(axis=1)[:, None])  # few forms say anything
    rows, entity_of = np.unique(kb_rows[mentions, places], return_inverse=True)
    names, offsets = kb.normalized_names_at(rows)
    named = np.diff(offsets)[entity_of] > 0  # a retired entity has no names
    if not named.any():
        return opposite
    mentions, places, entity_of = mentions[named], places[named], entity_of[named]
    has_names = np.flatnonzero(np.diff(offsets))
    of_names = np.array([_said(name) for name in names], dtype=np.uint64)
    of_rows = np.zeros((len(rows), 3), dtype=np.uint64)
    of_rows[has_names] = np.bitwise_or.reduceat(of_names, offsets[has_names])
    is_numbered = np.zeros(len(rows), dtype=np.bool_)
    is_numbered[has_names] = np.logical_and.reduceat(of_names[:, 2] > 0, offsets[has_names])

    one, other, numbers = said[mentions].T
    name_one, name_other, name_numbers = of_rows[entity_of].T
    contrary = (one & ~other & name_other & ~name_one) | (other & ~one & name_one & ~name_other)
    numbered = (numbers > 0) & is_numbered[entity_of] & (numbers & name_numbers == 0)
    opposite[mentions, places] = (contrary > 0) | numbered
    return opposite


def _bits() -> dict[str, tuple[int, int]]:
    """The bits of each word, and of each part of a word."""
    bits: dict[str, tuple[int, int]] = {}
    for number, contrast in enumerate(read_sections("opposites.txt")["contrasts"]):
        one, other = contrast.split("|")
        for word in one.split():
            bits[word] = (bits.get(word, (0, 0))[0] | 1 << number, 0)
        for word in other.split():
            bits[word] = (0, bits.get(word, (0, 0))[1] | 1 << number)
    return bits


_WORDS = _bits()
_PATTERN = re.compile("|".join(f"({pattern})" for pattern in _PARTS.values()))
_BITS_OF_PARTS = [_WORDS[part] for part in _PARTS]


@lru_cache(maxsize=65536)
def _said(name: str) -> tuple[int, int, int]:
    """The contrasts of which a name says the one side, and the other side, and its numbers; as bits."""
    one = other = numbers = 0
    for word in name.split(" "):
        if bits := _of_word(word):
            one, other, numbers = one | bits[0], other | bits[1], numbers | bits[2]
    return one, other, numbers


@lru_cache(maxsize=65536)
def _of_word(word: str) -> tuple[int, int, int] | None:
    if bits := _WORDS.get(word):
        return (*bits, 0)
    if found := _PATTERN.match(word):
        return (*_BITS_OF_PARTS[(found.lastindex or 1) - 1], 0)
    number = _ROMAN.get(word) or (int(word) if word.isdecimal() and len(word) < 3 else 0)
    return (0, 0, 1 << number) if 0 < number < _BITS else None

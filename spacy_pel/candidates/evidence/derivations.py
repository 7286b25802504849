"""Words derived from a name's words: "nuclear" is not a name of the entity "nucleus", but it means it, as
"transfected" means "transfection", "hepatic" "liver", and "apoptosis" "apoptotic process"."""

from functools import lru_cache

from .variants import british_or_american
from .word_lists import pairs_in, read_sections, words_in

_SHORTEST = 3  # letters of a stem
_SHORTEST_NOUN = 4
_SHORTEST_WORD = 5  # letters of a stem before an ending that nouns have, too: "camp" is no "camping"
_MOST_WORDS = 5  # of a name
_DOUBLED = frozenset("bdgklmnprt")  # after a short vowel: "stopped" and "stopping"
_VOWELS = frozenset("aeiou")
_SOUNDED = _VOWELS | {"y"}
_LISTS = read_sections("derivations.txt")
_OF_WORDS = frozenset(["", "e", "es", "s"])  # endings of nouns as well: "cats" are no "cation"
_OF_ENDING = {
    ending: nouns.replace("_", " ").split("/")
    for ending, _, nouns in (rule.partition("=") for rule in words_in(_LISTS["endings"]))
}
_OF_WORD = pairs_in(_LISTS["nouns"])
_NOT_DERIVED = frozenset(words_in(_LISTS["not_derived"]))
_LONGEST = max(map(len, _OF_ENDING))


@lru_cache(maxsize=4096)
def derivations(form: str) -> tuple[str, ...]:
    """Names that a form may stand for: one of its words, an adjective or a form of a verb, becomes a noun.

    Args:
        form: a name in normal form, of up to five words, e.g. "cardiac development".

    Returns:
        e.g. ("heart development", ...), in the other English, too, and forms that are
        no words; distinct, and without ``form`` itself.
    """
    derived: dict[str, None] = {}
    for english in (form, *british_or_american(form)):
        words = english.split(" ")
        if len(words) <= _MOST_WORDS:
            for number, word in enumerate(words):
                for noun in _nouns(word):
                    derived[" ".join([*words[:number], noun, *words[number + 1 :]])] = None
    derived.pop(form, None)
    return tuple(derived)


def _nouns(word: str) -> tuple[str, ...]:
    if not word.isalpha() or word in _NOT_DERIVED or _is_acronym(word):
        return ()
    nouns: dict[str, None] = {}
    if word in _OF_WORD:
        nouns[_OF_WORD[word].replace("_", " ")] = None
    for length in range(min(_LONGEST, len(word) - _SHORTEST) + 1):
        ending, stem = word[len(word) - length :], word[: len(word) - length]
        if ending not in _OF_WORDS or _is_word(stem):
            for noun in _OF_ENDING.get(ending, ()):
                nouns[stem + noun] = None
                if noun == "ing" and stem[-1] in _DOUBLED and stem[-2] in _VOWELS and stem[-3] not in _VOWELS:
                    nouns[stem + stem[-1] + noun] = None
    nouns.pop(word, None)
    return tuple(noun for noun in nouns if len(noun) >= _SHORTEST_NOUN)


def _is_word(stem: str) -> bool:
    """May this stem be a verb or an adjective, perhaps without a last "e"?"""
    return len(stem) >= _SHORTEST_WORD and not (stem[-1] in "aiousy" and not stem.endswith("ss"))


def _is_acronym(word: str) -> bool:
    """Whether this is hardly a word: "mpsiiic" is a mucopolysaccharidosis."""
    return "ii" in word or not _SOUNDED.intersection(word[:4])

"""Other forms of a name. Variants: "plasma cells" is not a name of the entity "plasma cell", but it means it, as
"SR48968" means "SR 48968", and "oedema" "edema". Derivations: "nuclear" means the entity "nucleus", as "transfected"
means "transfection", "hepatic" "liver", "apoptosis" "apoptotic process", and "low platelets" "thrombocytopenia"."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from itertools import pairwise, product

from ..util.names import GREEK, GREEK_SYMBOL

_SHORTEST = 3  # characters of a singular: "rats", but not the acronym "Cs"
_SHORTEST_PLURAL = 5  # of the plural of a mention: "CAP" is not "CAPS", the name of a syndrome
_OF = " of "
_RUNS = re.compile(r"[^\W\d_]+|\d+")  # of letters, of digits
_FEW_RUNS = 5  # of a short name; their blanks may be set in any way
_MOST_WORDS = 12  # of a longer name, one blank of which may be left out
_THOUSANDS = 3  # digits: "48,968" may be one number, but "1,2" are two
_APART = frozenset("no in at of to for and or by".split())  # "no 2" is not "no2", nitrogen dioxide
_SHORTEST_STEM = 3  # letters of a word without its ending
_SHORTEST_NOUN = 4
_SHORTEST_WORD = 5  # letters of a stem before an ending that nouns have, too: "camp" is no "camping"
_FEW_WORDS = 5  # of a name whose words are derived
_DOUBLED = frozenset("bdgklmnprt")  # after a short vowel: "stopped" and "stopping"
_VOWELS = frozenset("aeiou")
_SOUNDED = _VOWELS | {"y"}


def read_sections(file: str) -> dict[str, list[str]]:
    """The lines of each "[section]" of a file, without comments."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (resources.files(__package__) / file).read_text(encoding="utf8").splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections


def words_in(lines: Sequence[str]) -> list[str]:
    """What blanks divide."""
    return " ".join(lines).split()


def pairs_in(lines: Sequence[str]) -> dict[str, str]:
    """Every other word, and the word after it."""
    words = words_in(lines)
    return dict(zip(words[::2], words[1::2], strict=True))


_LISTS = read_sections("other_forms.txt")
_PARTS, _BOTH_BRITISH = words_in(_LISTS["british_american"]), words_in(_LISTS["both_british"])
_OF_WORDS = frozenset(["", "e", "es", "s"])  # endings of nouns as well: "cats" are no "cation"
_OF_ENDING = {
    ending: nouns.replace("_", " ").split("/")
    for ending, _, nouns in (rule.partition("=") for rule in words_in(_LISTS["endings"]))
}
_OF_WORD = pairs_in(_LISTS["nouns"])
_NOT_DERIVED = frozenset(words_in(_LISTS["not_derived"]))
_LONGEST = max(map(len, _OF_ENDING))
_OF_QUANTITY, _LEVELS = pairs_in(_LISTS["quantities"]), pairs_in(_LISTS["levels"])
_MEASURES = frozenset(words_in(_LISTS["measures"]))


def other_numbers(form: str) -> list[str]:
    """Singulars and plurals that a regular ending makes of a name's last word, or of the word before "of".

    Args:
        form: a name in normal form, e.g. "diseases of the liver".

    Returns:
        e.g. ["disease of the liver", ...], and forms that are no words.
    """
    head, of, rest = form.partition(_OF)
    forms = [other + of + rest for other in _singulars(head) + _plurals(head)]
    return forms + _singulars(form) + _plurals(form) if of else forms


def other_spellings(form: str) -> list[str]:
    """The same letters and digits with other blanks, "sr48968" for "sr 48968" and "nondepolarizing" for
    "non depolarizing", and with the names of Greek letters. Hyphens and commas are blanks in normal form.

    Words are joined, and letters and digits are set apart, but no word is split. In a name of up to five runs
    of letters or digits all blanks may differ, in a longer one a single blank.

    Args:
        form: a name in normal form.

    Returns:
        Distinct forms, without ``form`` itself.
    """
    others = dict.fromkeys(_with_other_blanks(form))
    if GREEK_SYMBOL.search(form):
        spelled = " ".join(GREEK_SYMBOL.sub(lambda letter: f" {GREEK[letter[0]]} ", form).split())
        others.update(dict.fromkeys([spelled, *_with_other_blanks(spelled)]))
    return [other for other in others if other != form and len(other) >= _SHORTEST]


def british_or_american(form: str) -> list[str]:
    """A name in British and in American English.

    Args:
        form: a name in normal form, e.g. "ischaemic tumour".

    Returns:
        e.g. ["ischemic tumor"]; without ``form`` itself, up to four forms.
    """
    others = dict.fromkeys(replaced(form) for replaced in _REPLACERS)
    return [other for other in others if other != form]


@lru_cache(maxsize=1 << 16)
def in_american(word: str) -> str:
    """A word in American English, "tumor" for "tumour"."""
    return _REPLACERS[1](word)


@lru_cache(maxsize=4096)
def variants(form: str) -> tuple[str, ...]:
    """A name in normal form in the other English, and of each of both its other
    numbers and other spellings; distinct, and without the name itself."""
    others: dict[str, None] = {}
    for english in (form, *british_or_american(form)):
        others.update(dict.fromkeys([english, *other_numbers(english), *other_spellings(english)]))
    return tuple(other for other in others if other != form)


def _with_other_blanks(form: str) -> Iterator[str]:
    runs = _RUNS.findall(form)
    if len(runs) < 2 or len("".join(runs)) < len(form.replace(" ", "")):  # symbols stay where they are
        return
    if len(runs) <= _FEW_RUNS:
        gaps = [(" ",) if stay_apart(*pair) else (" ", "") for pair in pairwise(runs)]
        for blanks in product(*gaps):
            yield "".join(run + blank for run, blank in zip(runs, (*blanks, ""), strict=True))
        return
    words = form.split(" ")
    if len(words) <= _MOST_WORDS:
        for number, pair in enumerate(pairwise(words)):
            if not (pair[0][-1].isdigit() and pair[1][0].isdigit()):
                yield " ".join([*words[:number], "".join(pair), *words[number + 2 :]])


def stay_apart(word: str, next_word: str) -> bool:
    """Whether these are two numbers, or a short word and a number."""
    if word.isdigit() and next_word.isdigit():
        return len(word) > _THOUSANDS or len(next_word) != _THOUSANDS
    return word in _APART and next_word.isdigit()


def _replacer(old: Sequence[str], new: Sequence[str]) -> Callable[[str], str]:
    """Replaces each old part by the new one, the longest first."""
    plain = [re.sub(r"\(\?[^)]*\)|\^", "", part) for part in (*old, *new)]
    replacement = dict(zip(plain[: len(old)], plain[len(old) :], strict=True))
    longest = sorted(old, key=len, reverse=True)
    pattern = re.compile("|".join(part.replace("^", r"\b") for part in longest))
    return lambda form: pattern.sub(lambda part: replacement[part[0]], form)


_REPLACERS = [
    _replacer(parts[first::2], parts[1 - first :: 2]) for first in (0, 1) for parts in (_PARTS, _PARTS + _BOTH_BRITISH)
]


def _singulars(form: str) -> list[str]:
    if not form.endswith("s") or form.endswith(("ss", "us", "is")):
        return []
    singulars = [form[:-1]]
    if form.endswith("ies"):
        singulars.append(form[:-3] + "y")
    if form.endswith(("ses", "xes", "zes", "ches", "shes")):
        singulars.append(form[:-2])
    return [word for word in singulars if len(word) >= _SHORTEST and word[-1].isalpha()]


def _plurals(form: str) -> list[str]:
    if not form[-1:].isalpha():
        return []
    if form.endswith("y") and form[-2:-1] not in "aeiou":
        plural = form[:-1] + "ies"
    else:
        plural = form + ("es" if form.endswith(("s", "x", "z", "ch", "sh")) else "s")
    return [plural] if len(plural) >= _SHORTEST_PLURAL else []


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
        if len(words) <= _FEW_WORDS:
            for number, word in enumerate(words):
                for noun in _nouns(word):
                    derived[" ".join([*words[:number], noun, *words[number + 1 :]])] = None
    derived.pop(form, None)
    return tuple(derived)


def quantity_terms(form: str) -> list[str]:
    """The term for a quantity that is high or low, in British and in American English.

    Args:
        form: a name in normal form, e.g. "low platelet count" or "platelets low".

    Returns:
        e.g. ["thrombocytopenia"]; empty if it says no such quantity.
    """
    words = [word for word in form.split(" ") if word not in _MEASURES] or [""]
    for level, *quantity in (words, [words[-1], *words[:-1]]):
        much, _, little = _OF_QUANTITY.get("_".join(quantity), "").partition("/")
        term = {"high": much, "low": little}.get(_LEVELS.get(level, ""))
        if term:
            return [term, *british_or_american(term)]
    return []


def _nouns(word: str) -> tuple[str, ...]:
    if not word.isalpha() or word in _NOT_DERIVED or _is_acronym(word):
        return ()
    nouns: dict[str, None] = {}
    if word in _OF_WORD:
        nouns[_OF_WORD[word].replace("_", " ")] = None
    for length in range(min(_LONGEST, len(word) - _SHORTEST_STEM) + 1):
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

"""Regular variants of a name: "plasma cells" is not a name of the entity "plasma cell", but it means it, as
"SR48968" means "SR 48968", and "oedema" "edema"."""

import re
import unicodedata
from itertools import product
from typing import Callable, Dict, Iterator, List, Sequence

import numpy as np

from ..kb import KnowledgeBase
from ..types import Rows

_SHORTEST = 3  # characters of a singular: "rats", but not the acronym "Cs"
_SHORTEST_PLURAL = 5  # of the plural of a mention: "CAP" is not "CAPS", the name of a syndrome
_OF = " of "
_RUNS = re.compile(r"[^\W\d_]+|\d+")  # of letters, of digits
_FEW_RUNS = 5  # of a short name; their blanks may be set in any way
_MOST_WORDS = 12  # of a longer name, one blank of which may be left out
_THOUSANDS = 3  # digits: "48,968" may be one number, but "1,2" are two
# British and American parts of words; "^" = it begins one: "chemo" has nothing to do with "haemo"
_PARTS = """
    ^haemo ^hemo  ^haema ^hema  ^oede ^ede  ^oeso ^eso  ^oestr ^estr  ^foet ^fet  ^paed ^ped  ^caec ^cec
    ^coelia ^celia  ^caesar ^cesar  ^naev ^nev  orthopaed orthoped  gynaec gynec  anaesth anesth  aemia emia
    ischaem ischem  anaem anem  glycaem glycem  uraem urem  leukaem leukem  lipidaem lipidem  volaem volem
    haemorrh hemorrh  rrhoea rrhea  leuco leuko  sulph sulf  tumour tumor  colour color  behaviour behavior
    fibre fiber  centre center  isation ization
""".split()
_GREEK = re.compile("[\u0370-\u03ff]")


def other_numbers(form: str) -> List[str]:
    """Singulars and plurals that a regular ending makes of a name's last word, or of the word before "of".

    form (str): a name in normal form, e.g. "diseases of the liver".
    RETURNS (List[str]): e.g. ["disease of the liver", ...], and forms that are no words.
    """
    head, of, rest = form.partition(_OF)
    forms = [other + of + rest for other in _singulars(head) + _plurals(head)]
    return forms + _singulars(form) + _plurals(form) if of else forms


def other_spellings(form: str) -> List[str]:
    """The same letters and digits with other blanks, "sr48968" for "sr 48968" and "nondepolarizing" for
    "non depolarizing", and with the names of Greek letters. Hyphens and commas are blanks in normal form.

    In a name of up to five runs of letters or digits all blanks may differ, in a longer one a single blank.

    form (str): a name in normal form.
    RETURNS (List[str]): distinct forms, without ``form`` itself.
    """
    spelled = _GREEK.sub(_name_of_letter, form)
    found = {spelled: None, **dict.fromkeys(_with_other_blanks(spelled))}
    return [one for one in found if one != form and len(one) >= _SHORTEST]


def british_or_american(form: str) -> List[str]:
    """A name in British and in American English.

    form (str): a name in normal form, e.g. "ischaemic tumour".
    RETURNS (List[str]): e.g. ["ischemic tumor"]; without ``form`` itself, up to two forms.
    """
    return [one for one in dict.fromkeys((_AMERICAN(form), _BRITISH(form))) if one != form]


def variants(form: str) -> List[str]:
    """RETURNS (List[str]): all that this module knows of a name in normal form, without the name itself."""
    found: Dict[str, None] = {}
    for one in (form, *british_or_american(form)):
        found.update(dict.fromkeys([one, *other_numbers(one), *other_spellings(one)]))
    return [one for one in found if one != form]


def rows_of_variants(kb: KnowledgeBase, forms: Sequence[str], rows: Sequence[Rows]) -> List[Rows]:
    """Entities that have a variant of a surface form as a name, where none has the form itself.

    kb (KnowledgeBase): the entities.
    forms (Sequence[str]): normalised surface forms.
    rows (Sequence[NDArray[int64]]): the rows of the entities that have each form as a name.
    RETURNS (List[NDArray[int64]]): for each form distinct rows, ascending; none where ``rows`` has some.
    """
    others = [[] if len(own) else variants(form) for form, own in zip(forms, rows, strict=True)]
    found = iter(kb.rows_of_aliases([other for own in others for other in own], normalized=True))
    return [np.unique(np.concatenate([np.empty(0, np.int64), *(next(found) for _ in own)])) for own in others]


def _with_other_blanks(form: str) -> Iterator[str]:
    runs = _RUNS.findall(form)
    if len(runs) < 2 or len("".join(runs)) < len(form.replace(" ", "")):  # symbols stay where they are
        return
    if len(runs) <= _FEW_RUNS:
        for blanks in product((" ", ""), repeat=len(runs) - 1):
            if not any(
                blank == "" and _are_two_numbers(*pair)
                for blank, pair in zip(blanks, zip(runs, runs[1:], strict=False), strict=True)
            ):
                yield "".join(map("".join, zip(runs, (*blanks, ""), strict=True)))
        return
    words = form.split(" ")
    if len(words) <= _MOST_WORDS:
        for number, pair in enumerate(zip(words, words[1:], strict=False)):
            if not (pair[0][-1].isdigit() and pair[1][0].isdigit()):
                yield " ".join([*words[:number], "".join(pair), *words[number + 2 :]])


def _are_two_numbers(one: str, other: str) -> bool:
    return one.isdigit() and other.isdigit() and len(other) != _THOUSANDS


def _replacer(old: Sequence[str], new: Sequence[str]) -> Callable[[str], str]:
    """RETURNS (Callable[[str], str]): replaces each old part by the new one, the longest first."""
    replacement = {one.strip("^"): other.strip("^") for one, other in zip(old, new, strict=True)}
    longest = sorted(old, key=len, reverse=True)
    # "anaemia" is British already: no "e" after an "a" is the beginning of an American part
    starts = [one.replace("^", r"\b") if one[0] != "e" else f"(?<!a){one}" for one in longest]
    pattern = re.compile("|".join(starts))
    return lambda form: pattern.sub(lambda part: replacement[part[0]], form)


_AMERICAN = _replacer(_PARTS[::2], _PARTS[1::2])
_BRITISH = _replacer(_PARTS[1::2], _PARTS[::2])


def _name_of_letter(found: "re.Match[str]") -> str:
    name = unicodedata.name(found[0], "")
    return name.rsplit(" ", 1)[-1].lower() if name.startswith("GREEK SMALL LETTER ") else found[0]


def _singulars(form: str) -> List[str]:
    if not form.endswith("s") or form.endswith(("ss", "us", "is")):
        return []
    singulars = [form[:-1]]
    if form.endswith("ies"):
        singulars.append(form[:-3] + "y")
    if form.endswith(("ses", "xes", "zes", "ches", "shes")):
        singulars.append(form[:-2])
    return [one for one in singulars if len(one) >= _SHORTEST and one[-1].isalpha()]


def _plurals(form: str) -> List[str]:
    if not form[-1:].isalpha():
        return []
    if form.endswith("y") and form[-2:-1] not in "aeiou":
        plural = form[:-1] + "ies"
    else:
        plural = form + ("es" if form.endswith(("s", "x", "z", "ch", "sh")) else "s")
    return [plural] if len(plural) >= _SHORTEST_PLURAL else []

"""Regular English plurals: "plasma cells" is not a name of the entity "plasma cell", but it means it."""

from typing import List, Sequence

import numpy as np

from ..kb import KnowledgeBase
from ..types import Rows

_SHORTEST = 3  # characters of a singular: "rats", but not the acronym "Cs"
_SHORTEST_PLURAL = 5  # of the plural of a mention: "CAP" is not "CAPS", the name of a syndrome
_OF = " of "


def other_numbers(form: str) -> List[str]:
    """Singulars and plurals that a regular ending makes of a name's last word, or of the word before "of".

    form (str): a name in normal form, e.g. "diseases of the liver".
    RETURNS (List[str]): e.g. ["disease of the liver", ...], and forms that are no words.
    """
    head, of, rest = form.partition(_OF)
    forms = [other + of + rest for other in _singulars(head) + _plurals(head)]
    return forms + _singulars(form) + _plurals(form) if of else forms


def rows_of_other_numbers(kb: KnowledgeBase, forms: Sequence[str], rows: Sequence[Rows]) -> List[Rows]:
    """Entities that have a singular or plural of a surface form as a name, where none has the form itself.

    kb (KnowledgeBase): the entities.
    forms (Sequence[str]): normalised surface forms.
    rows (Sequence[NDArray[int64]]): the rows of the entities that have each form as a name.
    RETURNS (List[NDArray[int64]]): for each form distinct rows, ascending; none where ``rows`` has some.
    """
    others = [[] if len(own) else other_numbers(form) for form, own in zip(forms, rows, strict=True)]
    found = iter(kb.rows_of_aliases([other for own in others for other in own], normalized=True))
    return [np.unique(np.concatenate([np.empty(0, np.int64), *(next(found) for _ in own)])) for own in others]


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

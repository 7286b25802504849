"""What the names of entities say of a surface form: which entities it names, and how alike their spellings are."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Indel

from ..kb import KnowledgeBase
from ..types import Flags, Rows, Scores
from ..util import normalize_alias
from ..util.arrays import take_pieces
from .other_forms import derivations, variants


class Form(NamedTuple):
    """A surface form.

    Attributes:
        normal: in normal form.
        formulas: the names that it has as a formula, see formulas.py.
        short: its normal form as an abbreviation, see abbreviations/forms.py; "" = it is none.
    """

    normal: str
    formulas: tuple[str, ...]
    short: str


# The ways in which a form names an entity, in order: one counts where no earlier one finds any. Each gives lists of
# names; the first list with a name that the knowledge base has counts.
_WAYS: dict[str, Callable[[Form], Iterable[Sequence[str]]]] = {
    "exact": lambda form: [[form.normal]],
    "formula": lambda form: [[name, *variants(name)] for name in form.formulas],
    "variant": lambda form: [variants(form.normal)],
    "derivation": lambda form: [derivations(form.normal)],
}
NAMED = tuple(_WAYS)


def rows_by_name(kb: KnowledgeBase, forms: Sequence[Form]) -> dict[str, list[Rows]]:
    """Look up forms in the knowledge base. No type filter has a say in which way counts.

    Returns:
        For each of NAMED, and each form, the distinct rows of the entities that it names in this way.
    """
    nothing = np.empty(0, dtype=np.int64)
    found: dict[str, list[Rows]] = {}
    waiting = list(range(len(forms)))
    for way, lists_of in _WAYS.items():
        lists = [(number, names) for number in waiting for names in lists_of(forms[number])]
        rows_of_names = iter(kb.rows_of_aliases([name for _, names in lists for name in names], normalized=True))
        found[way] = [nothing] * len(forms)
        for number, names in lists:
            rows = [rows for rows in (next(rows_of_names) for _ in names) if len(rows)]
            if rows and not len(found[way][number]):
                found[way][number] = np.unique(np.concatenate(rows))
        waiting = [number for number in waiting if not len(found[way][number])]
    return found


def is_preferred(kb: KnowledgeBase, forms: Sequence[str], form_of: Rows, row_of: Rows, named: Flags) -> Flags:
    """Which entities have the form, or a variant of it, as their preferred name? Of two entities named "syndactyly",
    texts mean the one that is called so rather than the one that has it as a synonym.

    Args:
        kb: stores the names.
        forms: in normal form.
        form_of: (p,), the form of each pair.
        row_of: (p,), its entity.
        named: (p,), whether the form or a variant is a name of the entity.

    Returns:
        (p,)
    """
    preferred = np.zeros(len(row_of), dtype=np.bool_)
    rows, entity_of = np.unique(row_of[named], return_inverse=True)
    names = [normalize_alias(names[0]) for names in kb.names_at(rows)]
    preferred[named] = [
        names[entity] == forms[form] or names[entity] in variants(forms[form])
        for form, entity in zip(form_of[named].tolist(), entity_of.tolist(), strict=True)
    ]
    return preferred


def edit_similarity(kb: KnowledgeBase, forms: Sequence[str], form_of: Rows, row_of: Rows) -> Scores:
    """Compare the spelling of forms with the names of entities. Word pieces hide spelling: the towers place
    "carcinomas" and "sarcomas" nearly as close as "carcinomas" and "carcinoma".

    Args:
        kb: stores the names in normal form.
        forms: in normal form.
        form_of: (p,) ascending, the form of each pair.
        row_of: (p,), the entity to compare it with.

    Returns:
        (p,), the Indel similarity 2 L / (a + b) of the nearest name: of strings of a and b characters whose longest
        common subsequence has L; 0 for a retired entity, which has no names.
    """
    rows, entity_of = np.unique(row_of, return_inverse=True)
    names, offsets = kb.normalized_names_at(rows)
    counts = np.diff(offsets)[entity_of]
    compared = np.array(names, dtype=object)[take_pieces(np.arange(len(names)), offsets, entity_of)]
    cuts = np.searchsorted(np.repeat(form_of, counts), np.arange(len(forms) + 1)).tolist()
    alike = np.zeros(len(compared), dtype=np.float32)
    for form, start, stop in zip(forms, cuts[:-1], cuts[1:], strict=True):
        if start < stop:
            own = compared[start:stop].tolist()
            alike[start:stop] = process.cdist([form], own, scorer=Indel.normalized_similarity, dtype=np.float32)[0]
    nearest = np.zeros(len(row_of), dtype=np.float32)
    named = np.flatnonzero(counts)
    if len(named):
        nearest[named] = np.maximum.reduceat(alike, (np.cumsum(counts) - counts)[named])
    return nearest

"""What the names of entities say of a surface form: which entities it names, and how alike their spellings are."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process

from ..kb import KnowledgeBase
from ..types import Flags, Floats, Rows
from ..util import normalize_alias
from ..util.arrays import Ragged
from .other_forms import derivations, quantity_terms, variants


class Form(NamedTuple):
    """A surface form.

    Attributes:
        normal: in normal form.
        formulas: the names that it has as a formula, see formulas.py.
        short: its normal form as an abbreviation, see abbreviations/definitions.py; "" = it is none.
        counted: what annotated text counts it by, see ``util.counted_form``.
    """

    normal: str
    formulas: tuple[str, ...]
    short: str
    counted: str


# The ways in which a form names an entity, in order: one counts where no earlier one finds any. Each gives lists of
# names; the first list with a name that the knowledge base has counts.
_WAYS: dict[str, Callable[[Form], Iterable[Sequence[str]]]] = {
    "exact": lambda form: [[form.normal]],
    "formula": lambda form: [[name, *variants(name)] for name in form.formulas],
    "variant": lambda form: [variants(form.normal)],
    "derivation": lambda form: [derivations(form.normal), quantity_terms(form.normal)],
}
NAMED = tuple(_WAYS)
_LEFT_OUT = ("cell", "pathway", "system")  # words that texts leave out


def rows_by_name(kb: KnowledgeBase, forms: Sequence[Form], ways: Sequence[str] = NAMED) -> dict[str, list[Rows]]:
    """Look up forms in the knowledge base. No type filter has a say in which way counts.

    Args:
        kb: the entities.
        forms: in any order.
        ways: the first of NAMED, or all.

    Returns:
        For each of them, and each form, the distinct rows of the entities that it names in this way.
    """
    nothing = np.empty(0, dtype=np.int64)
    rows_of_ways: dict[str, list[Rows]] = {}
    waiting = list(range(len(forms)))
    for way in ways:
        lists = [(number, names) for number in waiting for names in _WAYS[way](forms[number])]
        rows_of_names = iter(kb.rows_of_aliases([name for _, names in lists for name in names], normalized=True))
        rows_of_forms = rows_of_ways[way] = [nothing] * len(forms)
        for number, names in lists:
            rows = [rows for rows in (next(rows_of_names) for _ in names) if len(rows)]
            if rows and not len(rows_of_forms[number]):
                rows_of_forms[number] = np.unique(np.concatenate(rows))
        waiting = [number for number in waiting if not len(rows_of_forms[number])]
    return rows_of_ways


class NamePairs(NamedTuple):
    """Pairs of a surface form and an entity, and the names of the entities, read once for a batch.

    Attributes:
        forms: in normal form.
        form_of: (p,), the form of each pair; a pair may occur several times.
        kb_rows: (p,), its entity.
        entity_of: (p,), the piece of ``names`` that has its names.
        names: of each distinct entity, in normal form; a retired one has none.
    """

    forms: Sequence[str]
    form_of: Rows
    kb_rows: Rows
    entity_of: Rows
    names: Ragged

    @classmethod
    def read(cls, kb: KnowledgeBase, forms: Sequence[str], form_of: Rows, kb_rows: Rows) -> "NamePairs":
        """Of the names that a knowledge base stores."""
        entities, entity_of = np.unique(kb_rows, return_inverse=True)
        names, offsets = kb.normalized_names_at(entities)
        # an array of them, not a list for each entity: Python's garbage collector would go through thousands of lists
        return cls(forms, form_of, kb_rows, entity_of, Ragged(np.array(names, dtype=object), offsets))

    def take(self, pairs: Rows | Flags) -> "NamePairs":
        """Some of the pairs."""
        return self._replace(**{name: getattr(self, name)[pairs] for name in ("form_of", "kb_rows", "entity_of")})

    def best(self, rate: Callable[[str, NDArray[Any]], Any]) -> Floats:
        """(p,), the best number that a name of the entity has; 0 for an entity without names.

        Args:
            rate: the number of each of some names, given a form.
        """
        pairs, pair_of = np.unique(self.form_of * len(self.names) + self.entity_of, return_inverse=True)
        forms, entities = np.divmod(pairs, max(len(self.names), 1))
        names, best = self.names.take(entities), np.zeros(len(pairs))
        firsts = np.flatnonzero(np.diff(forms, prepend=-1))
        parts = np.split(names.values, names.offsets[firsts])[1:]
        rated = [rate(self.forms[form], part) for form, part in zip(forms[firsts], parts, strict=True)]
        if len(names.values):
            starts = names.offsets[:-1][names.lengths > 0]
            best[names.lengths > 0] = np.maximum.reduceat(np.concatenate(rated), starts)
        return best[pair_of]

    def similarity(self, scorer: Callable[..., float]) -> Floats:
        """(p,), how a scorer of rapidfuzz rates the spelling of the most similar name; 0 for an entity without names.

        Word pieces hide spelling: the towers place "carcinomas" and "sarcomas" nearly as close as "carcinomas" and
        "carcinoma".
        """
        return self.best(lambda form, names: process.cdist([form], names, scorer=scorer, dtype=np.float64)[0])

    def are_preferred(self, kb: KnowledgeBase) -> Flags:
        """(p,), is the form, or a variant of it, the entity's preferred name? Of two entities named "syndactyly", texts
        mean the one that is called so rather than the one that has it as a synonym."""
        entities, entity_of = np.unique(self.kb_rows, return_inverse=True)
        preferred = [normalize_alias(names[0]) for names in kb.names_at(entities)]
        pairs = zip(self.form_of.tolist(), entity_of.tolist(), strict=True)
        same = [preferred[entity] in (self.forms[form], *variants(self.forms[form])) for form, entity in pairs]
        return np.array(same, dtype=np.bool_)

    def say_more(self) -> Flags:
        """(p,), has the entity a name that says a little more: with "of" something, "cell", "pathway" or "system"
        behind the form or a variant of it, or any one word beside a derivation of the form? "Outer nuclear layer" is
        short for "outer nuclear layer of retina", and "expressed" stands for "gene expression"."""

        def rate(form: str, names: NDArray[Any]) -> list[bool]:
            same, derived = {form, *variants(form)}, set(derivations(form))
            return [_says_more(name, same, derived) for name in names]

        return self.best(rate) > 0


def _says_more(name: str, same: set[str], derived: set[str]) -> bool:
    head, of, _ = name.partition(" of ")
    words_before, _, last_word = name.rpartition(" ")
    _, _, words_behind = name.partition(" ")
    return (
        (bool(of) and head in same)
        or (last_word in _LEFT_OUT and words_before in same)
        or words_before in derived
        or words_behind in derived
    )

"""Terms for quantities that are high or low: "high blood pressure" is not a name of the entity "hypertension", but it
means it, as "low platelets" means "thrombocytopenia" or "low platelet count"."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from .variants import british_or_american, other_numbers
from .word_lists import pairs_in, read_sections

_MOST_WORDS = 6
_HIGH = "high increased elevated raised fast rapid overactive".split()
_LOW = "low decreased reduced slow underactive".split()
_USUAL = 3  # of either: the words before any quantity
_PLACES = ("serum", "blood", "plasma", "circulating")
_MEASURES = ("count", "level", "levels", "concentration", "number", "counts", "concentrations", "numbers")
_NOT_IN_A_PLACE: tuple[list[str], ...] = ([], ["cell"], ["cells"], ["pressure"])  # "blood cell"
_IN_NAMES = 4  # of these
_TERM_OF = {
    quantity.replace("_", " "): term.replace("_", " ")
    for quantity, term in pairs_in(read_sections("quantities.txt")["terms"]).items()
}


@lru_cache(maxsize=4096)
def quantity_names(form: str) -> tuple[str, ...]:
    """Names that a form with a high or low quantity may stand for.

    Args:
        form: a name in normal form, e.g. "low platelets".

    Returns:
        Names in normal form, the term first, then the same in other words, e.g. ("thrombocytopenia", ...,
        "decreased platelet count", ...), and names that nothing has; empty if it says no such quantity.
    """
    words = form.split(" ")
    if not 1 < len(words) <= _MOST_WORDS:
        return ()
    for level, *rest in (words, [words[-1], *words[:-1]]):
        for is_high, levels in ((True, _HIGH), (False, _LOW)):
            if level in levels:
                names = dict.fromkeys(_names(rest, levels[:_USUAL], is_high))
                names.pop(form, None)
                return tuple(names)
    return ()


def _names(words: list[str], levels: list[str], is_high: bool) -> Iterator[str]:
    if len(words) > 1 and words[-1] in _MEASURES:
        words = words[:-1]
    full = " ".join(words)
    bare = " ".join(words[1:]) if words[0] in _PLACES and words[1:2] not in _NOT_IN_A_PLACE else full
    for quantity in dict.fromkeys((full, bare)):
        for term in _terms(quantity, is_high):
            yield from (term, *british_or_american(term))
    for quantity in dict.fromkeys((full, bare)):
        numbers = [quantity, *other_numbers(quantity)]
        for parts in product(("", *_PLACES), numbers, ("", *_MEASURES[:_IN_NAMES]), levels):
            place, number, measure, level = parts
            yield " ".join(f"{level} {place} {number} {measure}".split())


def _terms(quantity: str, is_high: bool) -> Iterator[str]:
    term = _TERM_OF.get(quantity, quantity)
    if "/" in term:
        yield term.split("/")[0 if is_high else 1]
    elif " " not in term:
        stem = term.removesuffix("s").removesuffix("e")
        if not stem:  # "high E" is no hyperemia
            return
        yield ("hyper" if is_high else "hyp" if stem.startswith("o") else "hypo") + stem + "emia"

"""Is-a relations that RxNorm's names imply, for releases without its table of relations."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

# "24 HR Nifedipine 30 MG Extended Release Oral Tablet", "0.3 ML Enoxaparin sodium 100 MG/ML Prefilled Syringe"
_QUANTITY = re.compile(r"\d[\d.,]* (?:HR|ML|ACTUAT|MG|DAY) ")
_STRENGTH = re.compile(r" \d[\d.,]* [A-Z%][A-Z%/]*(?= |$)")
_BRANDED = re.compile(r"(.+) \[([^\[\]]+)\]")
_AND = " / "


def broader_drugs(names: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Find the ingredients of brands and combinations.

    A brand's clinical drugs name it and its ingredients: "Sertraline Oral Tablet [Zoloft]". An ingredient counts if
    at least half of them have it. A brand of several ingredients is below their combination if that has a name,
    else below each of them.

    Args:
        names: ids and names of all drugs; of each drug, the preferred name comes first.

    Returns:
        Id of a brand or combination -> the ids right above it.
    """
    id_of: dict[str, str] = {}
    for drug_id, name in names:
        id_of.setdefault(name.casefold(), drug_id)
    branded = [(match[1], match[2]) for _, name in names if (match := _BRANDED.fullmatch(name))]
    forms = _dose_forms(name for name, _ in branded)
    drugs: dict[str, list[tuple[str, ...]]] = defaultdict(list)  # brand -> the ingredients of each clinical drug
    salts: dict[str, list[tuple[str, ...]]] = defaultdict(list)  # names with a strength may have those
    for name, brand in branded:
        found = _ids(_ingredients(name, forms), id_of)
        brand_id = id_of.get(brand.casefold())
        if found and brand_id:
            (salts if _STRENGTH.search(name) else drugs)[brand_id].append(found)
    above: dict[str, list[str]] = {}
    combinations: dict[frozenset[str], str] = {}
    for drug_id, name in names:
        parts = _ids(name.split(_AND), id_of) if _AND in name and "[" not in name else ()
        if parts and drug_id not in above:
            above[drug_id] = list(parts)
            combinations.setdefault(frozenset(parts), drug_id)
    for brand_id, found_for_each in {**salts, **drugs}.items():
        n_of = Counter(chain.from_iterable(found_for_each))
        ingredients = [one for one, n in n_of.items() if 2 * n >= len(found_for_each) and one != brand_id]
        combination = combinations.get(frozenset(ingredients))
        if ingredients:
            above[brand_id] = [combination] if combination else ingredients
    return above


def _dose_forms(names: Iterable[str]) -> set[str]:
    """What follows the last strength in names: "Oral Tablet"."""
    tails = ((name, list(_STRENGTH.finditer(name))) for name in names)
    return {name[found[-1].end() :].strip() for name, found in tails if found} - {""}


def _ingredients(name: str, forms: set[str]) -> list[str]:
    """Of a clinical drug's name without its brand; empty if it is not of a known form."""
    if quantity := _QUANTITY.match(name):
        name = name[quantity.end() :]
    parts = name.split(_AND)
    if _STRENGTH.search(name):
        return [part[: match.start()] if (match := _STRENGTH.search(part)) else "" for part in parts]
    words = parts[-1].split(" ")
    end = next((at for at in range(1, len(words)) if " ".join(words[at:]) in forms), 0)
    return [*parts[:-1], " ".join(words[:end])] if end else []


def _ids(ingredients: Iterable[str], id_of: dict[str, str]) -> tuple[str, ...]:
    """Of all ingredients; empty if one of them is unknown."""
    found = [id_of.get(name.casefold(), "") for name in ingredients]
    return tuple(dict.fromkeys(found)) if all(found) else ()

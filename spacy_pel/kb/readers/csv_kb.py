"""Entities from a table with a header line: cells between commas, semicolons, tabs or bars."""

import csv
import json
import re
from ast import literal_eval
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, starmap
from operator import itemgetter
from pathlib import Path
from typing import Any

from ...errors import PelError, Warnings, quoted, shortened
from ...registry import registry
from ...types import Entity
from ...util import Place, logger, plain, raw_lines, read_cells, unexpected
from ..repair import bare
from .reader_base import KBReaderBase

# field -> what other tools call its column
USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "concept_id": ("id", "code", "curie", "cui", "cid", "class_id", "identifier"),
    "canonical_name": (
        *("name", "label", "term", "display", "display_name"),
        *("preferred_name", "preferred_term", "preferred_label", "code_description", "long_description", "title"),
    ),
    "aliases": ("alias", "synonyms", "synonym"),
    "types": ("type", "semantic_types", "semantic_type", "domain_id"),
    "definition": ("description",),
    "xrefs": ("xref", "cross_references", "mappings", "source_ids"),
    "parents": ("parent", "is_a", "parent_ids"),
}
FIELDS = tuple(USUAL_NAMES)
FIELD_OF = {name: field for field, names in USUAL_NAMES.items() for name in (field, *names)}
LISTS = ("aliases", "types", "xrefs", "parents")  # fields of several texts

_VOCABULARY = re.compile(
    r"(?i)(diagnosis|procedure|disease|disorder|term|concept|entity|snomed\W*_?(ct)?|sct|umls|mesh|rxnorm|loinc|atc|ncit?|omim|hpo|icd\W*_?\d*\W*_?(cm|pcs)?)[\W_]*"
)
# columns that only tables in these formats have -> their reader
_PUBLISHED = {
    ("effective_time", "module_id"): "rf2",
    ("loinc_num", "long_common_name"): "loinc",
    ("loinc", "map_to"): "loinc",
    ("class_id", "preferred_label", "obsolete", "parents"): "bioportal",
}
_NOT_VALID = r"(?!(?:0|0\.0|f|false|no?|none|null|nan?|valid|v|active|current|\\N)$).+"
# columns that say which rows are no longer in use, and what they say of these, in any case
_UNUSED = {
    **dict.fromkeys(("invalid_reason", "obsolete", "deprecated", "retired", "inactive", "deleted"), _NOT_VALID),
    "active": r"0|0\.0|f|false|no?|inactive",
    "status": "inactive|deprecated|retired|obsolete|withdrawn|deleted|merged|superseded|discontinued|not in use",
    "suppress": "[oey]",  # of the UMLS
}
_QUOTED = re.compile(r"""(^|[,;|\t])\s*(?:"(?:[^"]|"")*"|'(.*?)')\s*(?=[,;|\t]|$)""")
_WHOLE_ROW = re.compile(r'"(?:[^"]|"")*"')
_RULE = re.compile(r"[=+:|\s]*-[-=+:|\s]*")  # below the header, as databases and Markdown have it
# lines of files of CMS whose columns have fixed widths: the order of ICD-10 with number, code, whether it is billable,
# and titles; the codes of ICD-9 and ICD-10 with code and title
_FIXED_WIDTHS = (
    re.compile(r"\d{5} (\w{3,7}) +[01] .{60} (.+)"),
    re.compile(r"(?!\d{5} \w+ +[01] )((?=[A-Z]*\d)[A-Z\d.]{3,8}) +(\S.*[A-Za-z].*)"),
)
_NO_TABLE = re.compile(r"[\[{<@]|format-version:")
_CODE = re.compile(r"(?=.*\d)[\w.:/+-]+")
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_CELL_ERROR = r"#(N/A|REF!|VALUE!|NAME\?|DIV/0!|NULL!|NUM!|##+)"
# not "1E50", a code of ICD-11; a number of more than 15 digits ends in zeros
_BY_SPREADSHEET = re.compile(
    r"(?i)'\d+|\d+\.0+|\d([.,]\d+)?E[+-]\d+|\d{14,}000|\d{1,3}(,\d{3})+"
    rf"|\d\d?-{_MONTH}|{_MONTH}-\d\d|\d{{4}}-\d\d-\d\d( 00:00:00)?|\d\d?/\d\d?/\d{{2,4}}|=\".*\"|{_CELL_ERROR}"
)
_DECIMAL = re.compile(r"\d+\.0*[1-9]\d*")  # with such codes, "250.0" is one, too
_N_HEAD = 30  # lines that the header is looked for in
_HTML_ENTITY = re.compile(r"&#?\w+;")


@registry.pel_kb_readers("spacy-pel.CsvKB.v1")
@dataclass(kw_only=True, eq=False)
class CsvKB(KBReaderBase):
    """Reads tables with quoted cells as spreadsheets write them; a cell may span lines.

    The id and the name need columns, and so does every field named in ``columns``. A header may also use
    common names: id, code, curie, cui, cid, class id, identifier; name, label, term, display, title, preferred name;
    synonyms; type or semantic type; description. They may be in any case, in camel case, and have a
    vocabulary or kind before them ("SNOMED CT ID", "diagnosis code"). A column that no field uses is left out and
    counted as ``unknown_column``; a warning names these columns. A column without a name counts only if it has text.

    Commas, semicolons, tabs or bars separate the cells: what is between the id and the name in the header.
    Titles and comments above the header are left out. Rows that begin with "#" are left out, too, and counted
    as ``comment_line``; so are those that a column such as invalid_reason, active or status calls invalid, as
    ``invalid``.

    Quotation marks, or single ones as in the header or in all rows, enclose cells. Those that do not pair are
    ordinary characters between tabs or bars (``stray_quote``), as all are in OMOP's tables.

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
    is_release = False
    unread_kind = ("columns", ", or name them with the setting 'columns'")

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
            damaged: list[str] = []  # ids that a spreadsheet may have changed
            has_decimals, n_rows, swapped = False, 0, []  # the latter: rows whose id may be the name
            for place, cells in rows:
                if len(cells) < width or any(map(str.strip, cells[len(header) :])):
                    expected, got = f"{width} cells as in the header", f"{len(cells)}: {quoted(cells)}"
                    raise unexpected(place, expected, got, "Quote cells that hold the delimiter.")
                for at in [at for at in unnamed if "".join(cells[at : at + 1]).strip()]:
                    unnamed.remove(at)
                    self._leave_unread(place, f"column {at + 1}, without a name")
                values: dict[str, Any] = {field: cells[at] for field, at in position.items()}
                values["concept_id"] = entity_id = bare(values["concept_id"]).strip()
                if any(starmap(says_unused, zip(header, cells, strict=False))):
                    self.report["invalid"] = self.report.get("invalid", 0) + 1
                    self.note_obsolete(entity_id)
                    continue
                name = values["canonical_name"].strip()
                n_rows += 1
                has_decimals |= _DECIMAL.fullmatch(entity_id) is not None
                if _BY_SPREADSHEET.fullmatch(entity_id):
                    damaged.append(f"{quoted(entity_id)} ({place})")
                elif _CODE.fullmatch(name) and not _CODE.fullmatch(entity_id):
                    swapped.append(f"{quoted(entity_id)} {name} ({place})")
                for field in filter(position.__contains__, LISTS):
                    values[field] = _listed(cell := cells[position[field]], separator)
                    if len(values[field]) > 1:
                        separated.add(field)
                    elif field not in doubtful and (other := _other_separator(field, cell)):
                        facts = {"column": header[position[field]], "separator": repr(other)}
                        doubtful[field] = Warnings.W101.format(place=place, cell=repr(shortened(cell.strip())), **facts)
                yield place, Entity(**values)
            for warning in (doubtful[field] for field in doubtful if field not in separated):
                logger.warning(warning)
            if 2 * len(swapped) > n_rows:
                both = (header[position["canonical_name"]], header[position["concept_id"]])
                columns = json.dumps(dict(zip(FIELDS, both, strict=False)), ensure_ascii=False)
                logger.warning(Warnings.W146.format(n=len(swapped), total=n_rows, case=swapped[0], columns=columns))
            for case in (case for case in damaged if not has_decimals or not re.match(r"'\d+\.0+'", case)):
                self._note_case(Warnings.W147, case)

    def _rows(self, path: Path) -> Iterator[tuple[Place, list[str]]]:
        """The header, with bare names, and the rows that have text."""
        lines = self.numbered_lines(path)
        head = list(islice(lines, _N_HEAD))
        texts = [line for _, line in head if line]
        if all(map(_WHOLE_ROW.fullmatch, texts)):
            lines = ((number, line[1:-1].replace('""', '"')) for number, line in chain(head, lines))
            head = list(islice(lines, _N_HEAD))
        for fixed in (one for one in _FIXED_WIDTHS if texts and all(map(one.fullmatch, texts))):
            yield Place(path), ["code", "name"]
            for number, line in filter(itemgetter(1), chain(head, lines)):
                match = fixed.fullmatch(line)
                yield Place(path, number), list(match.groups()) if match else [line]
            return
        delimiter, start = self._find_header(path, [line for _, line in head])
        header_line = "".join(line.lstrip("# ") for _, line in head[start : start + 1])
        rest: Iterator[tuple[int, str]] = chain([(start + 1, header_line)], head[start + 1 :], lines)
        data = [line for _, line in head[start + 1 :] if line.strip()]
        is_quoted, *are_quoted = (_double_quoted(line) != line for line in (header_line, *data))
        if is_quoted or (data and all(are_quoted)):
            rest = ((number, _double_quoted(line)) for number, line in rest)
        is_omop = "invalid_reason" in header_line.lower()
        quotes = delimiter not in "\t|" or (not is_omop and self._quotes_pair(path, delimiter, start))
        rows = read_cells(path, rest, delimiter=delimiter, quotes=quotes)
        for number, header in islice(rows, 1):
            is_quoted |= any(bare(name) != name for name in header)
            yield Place(path, number), [bare(name).strip() for name in header]
        for number, cells in rows:
            cells = list(map(bare, cells)) if is_quoted else cells
            is_error = any(cells[1:]) and re.fullmatch(_CELL_ERROR, cells[0].strip(), re.IGNORECASE)
            if cells[0].startswith("#") and not is_error:
                self.repair("comment_line", Place(path, number), "a comment")
            elif any(map(str.strip, cells)) and not _RULE.fullmatch("".join(cells)):
                yield Place(path, number), cells

    def _quotes_pair(self, path: Path, delimiter: str, start: int) -> bool:
        """Whether quotation marks enclose cells, from the header on; those that do not are counted."""
        lines = ((number, raw.decode("utf8", "replace").rstrip("\r\n")) for number, raw in raw_lines(path))
        try:
            deque(read_cells(path, islice(lines, start, None), delimiter=delimiter), maxlen=0)
        except PelError as err:
            self.repair("stray_quote", Place(path), f"quotation marks are read as characters: {err}")
            return False
        return True

    def _find_header(self, path: Path, lines: Sequence[str]) -> tuple[str, int]:
        """The delimiter, and the position of the header among the lines."""
        default = "\t" if path.name.removesuffix(".gz").endswith((".tsv", ".txt")) else ","
        delimiters = [default, ";", ",", "\t", "|", "^", "~", "\x01"]
        for at, line in enumerate(lines):
            for delimiter in delimiters:
                rows = csv.reader([_double_quoted(line.lstrip("# "))], delimiter=delimiter, skipinitialspace=True)
                header = list(map(bare, next(rows, [])))
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
        if "canonical_name" not in position and "definition" in position and not self.column_of:
            position["canonical_name"] = position.pop("definition")  # of "code, description"
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
            if _NO_TABLE.match("".join(header[:1])):
                todo = "It looks like JSON, OBO, Turtle or XML: name it .json, .obo, .ttl or .owl, or see --reader."
            raise unexpected(place, expected, quoted(header) if any(header) else "an empty one", todo)
        for at, name in enumerate(header):
            if name and at not in position.values() and not unused_values(name):
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


@lru_cache  # every row has the same names
def unused_values(name: str) -> str | None:
    """The pattern of what a column or key of this name says of an entity that is no longer in use; None = nothing."""
    return _UNUSED.get(plain(name).removeprefix("is_"))


def says_unused(name: str, value: object) -> bool:
    """Whether a column or key of this name says with this value that an entity is no longer in use."""
    said = unused_values(name)
    return said is not None and re.fullmatch(said, str(value).strip(), re.IGNORECASE) is not None


def _double_quoted(line: str) -> str:
    """With quotation marks around the cells that have single ones around them."""

    def cell(found: "re.Match[str]") -> str:
        text = (found[2] or "").replace("''", "'").replace("\\'", "'").replace('"', '""')
        return found[0] if found[2] is None else f'{found[1]}"{text}"'

    return _QUOTED.sub(cell, line) if "'" in line else line


def _listed(cell: str, separator: str) -> tuple[str, ...]:
    """The texts of a cell, which may be a list as JSON or Python writes it."""
    if cell.lstrip().startswith("["):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            texts = literal_eval(cell.strip())
            if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
                return tuple(texts)
    return tuple(cell.split(separator))


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

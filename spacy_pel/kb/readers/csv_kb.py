"""Entities from a table with a header line: cells between commas, semicolons, tabs or bars."""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from ...errors import Warnings, quoted, shortened
from ...registry import registry
from ...types import Entity
from ...util import logger
from ...util.files import read_cells
from .fields import FIELDS, USUAL_NAMES, field_meant, plain, published_as, without_vocabulary
from .reader_base import KBReaderBase, Place

_LISTS = ("aliases", "types")
_N_HEAD = 30  # lines that the header is looked for in ...
_N_LINE = 100_000  # and characters of each: csv has a limit
_HTML_ENTITY = re.compile(r"&#?\w+;")
_COMMA = re.compile(r",\s+\w")  # not those of "1,2-dichloroethane" and "N,N-dimethylaniline"
# a part of a list such as "MI, heart attack"; "Lymphoma, NOS" is a name
_ABBREVIATION = re.compile(r"(?!N(?:OS|EC|ES)$)[A-Z][A-Z0-9-]+")
_NO_BLANK = re.compile(r"[^\s\d];\S|\S;[^\s\d]")  # but not the locants of "1,2;3,4-diepoxybutane"


@registry.pel_kb_readers("spacy-pel.CsvKB.v1")
class CsvKB(KBReaderBase):
    """Reads tables with quoted cells as spreadsheets write them; a cell may span lines.

    The id and the name need columns, and so does every field named in ``columns``. A header may also use
    common names: id, code, curie, cui, cid, class id; name, label, term, display, preferred name or term;
    synonyms; type or semantic type; description. They may be in any case, in camel case, and have a
    vocabulary before them ("SNOMED CT ID"). A column that no field uses is left out and counted as
    ``unknown_column``; a warning names these columns. A column without a name counts only if it has text.

    Titles and comments above the header are left out. Rows that begin with "#" are left out, too, and counted
    as ``comment_line``.

    Args:
        types: keep entities with any of these types.
        id_prefix: keep entities whose id starts with this.
        strict: turn repairs into errors.
        columns: field of Entity -> name of its column, where it differs,
            e.g. {"concept_id": "code"}; in any case, if no other column differs in case only.
        list_separator: between the aliases, and between the types, of one cell. None = "|". In a
            column without any "|", cells that are lists with ";" ("T2DM;NIDDM", "a; b; c") or of several lines
            are split there, which is logged and counted as ``split_cell``. A cell such as "Deficiency; iron",
            in a column without clearer ones, may be one name or two: an error asks for this setting.
        delimiter: between cells; None = the comma, semicolon, tab or bar between the id and the
            name in the header.

    Raises:
        PelError: if ``columns`` names an unknown field, or a separator is empty.
    """

    one_line_per_id = True
    unread = ("columns", ", or name them with the setting 'columns'")
    about = {"origin": "CSV", "version": "", "licence": "as its maker states it"}

    def __init__(
        self,
        *,
        types: list[str] | None = None,
        id_prefix: str = "",
        strict: bool = False,
        columns: dict[str, str] | None = None,
        list_separator: str | None = None,
        delimiter: str | None = None,
    ):
        super().__init__(types=types, id_prefix=id_prefix, strict=strict)
        self.columns = columns or {}
        if unknown := sorted(self.columns.keys() - USUAL_NAMES.keys()):
            self.fail(
                Place(Path("columns")),
                expected=f"fields among {', '.join(FIELDS)}",
                got=", ".join(unknown),
                todo="Fix the setting.",
            )
        for name, value, expected in (
            ("list_separator", list_separator, "text"),
            ("delimiter", delimiter, "one character"),
        ):
            if value == "" or (name == "delimiter" and len(value or ",") != 1):
                self.fail(Place(Path(name)), expected=expected, got=repr(value), todo="Fix the setting.")
        self.list_separator = list_separator
        self.delimiter = delimiter

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The rows' entities."""
        for path in paths:
            rows = self._rows(path)
            place, header = next(rows, (Place(path), []))
            position = self._positions(place, header)
            separators = self._separators(path, position)
            width = max(at for at, name in enumerate(header, 1) if name)
            unnamed = {at for at, name in enumerate(header) if not name}
            for place, cells in rows:
                if len(cells) < width or any(map(str.strip, cells[len(header) :])):
                    self.fail(
                        place,
                        expected=f"{width} cells as in the header",
                        got=f"{len(cells)}: {quoted(cells)}",
                        todo="Quote cells that hold the delimiter.",
                    )
                for at in [at for at in unnamed if "".join(cells[at : at + 1]).strip()]:
                    unnamed.remove(at)
                    name = f"column {at + 1}, without a name"
                    self.leave_unread(place, name, "")
                    self.repair("unknown_column", place, f"no field uses {name}")
                yield (place, self._entity(place, {field: cells[at] for field, at in position.items()}, separators))

    def _rows(self, path: Path) -> Iterator[tuple[Place, list[str]]]:
        """The header, with bare names, and the rows that have text."""
        lines = ((place.line, line) for place, line in self.lines(path))
        head = list(islice(lines, _N_HEAD))
        delimiter, start = self._find_header(path, [line for _, line in head])
        if start is not None:
            head[start:] = [(head[start][0], head[start][1].lstrip("# ")), *head[start + 1 :]]
        is_header = True
        for number, cells in read_cells(path, chain(head[start:], lines), delimiter=delimiter):
            place = Place(path, number)
            if is_header:
                yield place, [name.strip() for name in cells]
                is_header = False
            elif cells[0].startswith("#"):
                self.repair("comment_line", place, "a comment")
            elif any(map(str.strip, cells)):
                yield place, cells

    def _find_header(self, path: Path, lines: Sequence[str]) -> tuple[str, int | None]:
        """The delimiter, and the position of the header among the lines;
        None = there is none."""
        default = "\t" if path.name.removesuffix(".gz").endswith((".tsv", ".txt")) else ","
        delimiters = [self.delimiter] if self.delimiter else [default, ";", ",", "\t", "|"]
        for at, line in enumerate(lines):
            for delimiter in delimiters:
                header = next(csv.reader([line[:_N_LINE].lstrip("# ")], delimiter=delimiter), [])
                position, _ = self._fields([name.strip() for name in header])
                if position.keys() >= self._needed() or published_as(header):
                    return delimiter, at
        return next((found for found in delimiters if found in "".join(lines[:1])), delimiters[0]), None

    def _needed(self) -> set[str]:
        return {"concept_id", "canonical_name", *self.columns}

    def _fields(self, header: list[str]) -> tuple[dict[str, int], dict[str, str]]:
        """Field -> its column; and name of a column -> the
        field that it and other columns could be."""
        usual = [plain(name) for name in header]
        bare = [without_vocabulary(name) for name in header]
        position: dict[str, int] = {}
        several: dict[str, str] = {}
        for field, others in USUAL_NAMES.items():
            own = self.columns.get(field, field)
            known = {plain(own)} if field in self.columns else {field, *others}
            # the surest names first
            searches = ((header, {own}), (usual, {plain(own)}), (usual, known), (bare, known))
            matches = ([at for at, name in enumerate(names) if name in wanted] for names, wanted in searches)
            found = next(filter(None, matches), [])
            if len(found) == 1:
                position[field] = found[0]
            else:
                several.update((header[at], field) for at in found)
        return position, several

    def _positions(self, place: Place, header: list[str]) -> dict[str, int]:
        """Field -> its column."""
        if "concept_id" not in self.columns and (reader := published_as(header)):
            self.fail(
                place,
                expected="a table with one row for each entity or name",
                got=f"a file that the reader '{reader}' reads",
                todo=f"Use --reader {reader}, or name the columns with the setting 'columns'.",
            )
        position, several = self._fields(header)
        missing = [self.columns.get(field, field) for field in sorted(self._needed() - position.keys())]
        if missing:
            names = " and ".join(map(self._name_of, ("concept_id", "canonical_name")))
            self.fail(
                place,
                expected=f"a header with {names}, each column once,",
                got=f"{', '.join(header) or 'an empty one'} (no {', '.join(missing)})",
                todo="Add a header line, rename the columns, or give their names in the setting 'columns'.",
            )
        unused = [field for field in FIELDS if field not in position]
        for at, name in enumerate(header):
            if name and at not in position.values():
                meant = several.get(name) or field_meant(name, unused)[0]
                self.leave_unread(place, name, meant)
                hint = f" (perhaps '{meant}' was meant)" if meant else ""
                self.repair("unknown_column", place, f"no field uses the column {name!r}{hint}")
        return position

    def known_names(self) -> str:
        """The names of columns that are read."""
        return ", ".join(map(self._name_of, FIELDS))

    def _name_of(self, field: str) -> str:
        """What the column of a field may be called."""
        if field in self.columns:
            return self.columns[field]
        return f"{field} (or {', '.join(USUAL_NAMES[field])})"

    def _separators(self, path: Path, position: dict[str, int]) -> dict[str, str]:
        """Read the file once to find the separator of each column of lists.

        Returns:
            Field -> its separator.
        """
        if self.list_separator is not None:
            return dict.fromkeys(_LISTS, self.list_separator)
        columns = {field: _ListColumn() for field in _LISTS if field in position}
        if not columns:
            return {}
        report = dict(self.report)
        rows = self._rows(path)
        names = next(rows)[1]
        for place, cells in rows:
            for field, column in columns.items():
                if len(cells) > position[field]:  # if not, reading fails there
                    column.see(place, cells[position[field]])
        self.report.clear()  # each repair is counted when the file is read
        self.report.update(report)
        return {field: self._separator(field, names[position[field]], column) for field, column in columns.items()}

    def _separator(self, field: str, name: str, column: "_ListColumn") -> str:
        if column.has_bar:
            if column.list_cell is not None:
                place, cell = column.list_cell
                logger.warning(Warnings.W102.format(place=place, column=name, cell=repr(shortened(cell))))
            return "|"
        if found := column.list_cell or column.lines_cell:
            place, cell = found
            separator = ";" if column.list_cell else "\n"
            logger.warning(
                Warnings.W101.format(place=place, column=name, separator=repr(separator), cell=repr(shortened(cell)))
            )
            return separator
        if column.doubtful_cell is not None:
            place, cell = column.doubtful_cell
            self.fail(
                place,
                expected=f"a '|' between several entries of a cell in the column '{name}'",
                got=f"{shortened(cell)!r}, which may be one entry or two",
                todo="Set list_separator to ';' if ';' separates them, or to '|' if it is part of a name.",
            )
        # a type may have commas: "Amino Acid, Peptide, or Protein"
        if field == "aliases" and column.commas_cell is not None and 2 * column.n_commas > column.n_cells:
            place, cell = column.commas_cell
            logger.warning(Warnings.W105.format(place=place, column=name, cell=repr(shortened(cell))))
        return "|"

    def _entity(self, place: Place, cells: dict[str, str], separators: dict[str, str]) -> Entity:
        lists: dict[str, tuple[str, ...]] = {}
        for field, separator in separators.items():
            lists[field] = tuple(cells.get(field, "").split(separator))
            if self.list_separator is None and separator != "|" and len(lists[field]) > 1:
                self.repair("split_cell", place, f"the {field} were split at {separator!r}")
        return Entity(
            concept_id=cells["concept_id"],
            canonical_name=cells["canonical_name"],
            definition=cells.get("definition"),
            **lists,
        )


class _ListColumn:
    """What the separator of a column of lists may be, judging by its cells."""

    def __init__(self) -> None:
        self.has_bar = False
        # the first of the cells without "|" ...
        self.list_cell: tuple[Place, str] | None = None  # that are lists with ";"
        self.doubtful_cell: tuple[Place, str] | None = None  # with one "; ", as in "Deficiency; iron"
        self.lines_cell: tuple[Place, str] | None = None  # of several lines
        # with several commas between words, or one beside an abbreviation: not "Leukemia, Acute"
        self.commas_cell: tuple[Place, str] | None = None
        # how many of the cells without "|" have text, and how many of these have such a comma
        self.n_cells = self.n_commas = 0

    def see(self, place: Place, cell: str) -> None:
        cell = cell.strip()
        if "|" in cell:
            self.has_bar = True
            return
        commas = len(_COMMA.findall(cell))
        self.n_cells += bool(cell)
        self.n_commas += commas > 0
        is_list = commas > 1 or any(_ABBREVIATION.fullmatch(part.strip()) for part in cell.split(","))
        if commas and is_list:
            self.commas_cell = self.commas_cell or (place, cell)
        if "\n" in cell:
            self.lines_cell = self.lines_cell or (place, cell)
        plain = _HTML_ENTITY.sub("", cell).strip("; ")
        if ";" not in plain:
            return
        if plain.count(";") > 1 or _NO_BLANK.search(plain):
            self.list_cell = self.list_cell or (place, cell)
        else:
            self.doubtful_cell = self.doubtful_cell or (place, cell)

"""Entities from a table with a header line: CSV, or TSV, depending on the file name."""

import csv
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from ...registry import registry
from ...types import Entity
from .reader_base import KBReaderBase, Place


@registry.pel_kb_readers("spacy-pel.CsvKB.v1")
class CsvKB(KBReaderBase):
    """Reads tables with quoted cells as spreadsheets write them; a cell may span lines.

    The id and the name need columns, and so does every field named in ``columns``. A column
    that no field uses is left out and counted as ``unknown_column``.

    types (Optional[List[str]]): keep entities with any of these types.
    id_prefix (str): keep entities whose id starts with this.
    strict (bool): turn repairs into errors.
    columns (Optional[Dict[str, str]]): field of Entity -> name of its column, where it differs,
        e.g. {"concept_id": "code"}.
    list_separator (str): between the aliases, and between the types, of one cell.
    delimiter (Optional[str]): between cells; None = tab for .tsv and .txt, else comma.
    """

    about = {"origin": "CSV", "version": "", "licence": "as its maker states it"}

    def __init__(
        self,
        *,
        types: Optional[List[str]] = None,
        id_prefix: str = "",
        strict: bool = False,
        columns: Optional[Dict[str, str]] = None,
        list_separator: str = "|",
        delimiter: Optional[str] = None,
    ):
        super().__init__(types=types, id_prefix=id_prefix, strict=strict)
        defaults = {field: field for field in Entity.__dataclass_fields__}
        columns = columns or {}
        if not columns.keys() <= defaults.keys():
            self.fail(
                Place(Path("columns")),
                expected=f"fields among {', '.join(defaults)}",
                got=f"{', '.join(sorted(columns.keys() - defaults.keys()))}",
                todo="Fix the setting.",
            )
        self.columns = {**defaults, **columns}
        self.needed = {"concept_id", "canonical_name", *columns}
        self.list_separator = list_separator
        self.delimiter = delimiter

    def read(self, paths: Sequence[Path]) -> Iterator[Tuple[Place, Entity]]:
        """YIELDS (Tuple[Place, Entity]): the rows' entities."""
        for path in paths:
            rows = self._rows(path)
            place, header = next(rows, (Place(path), []))
            position = self._positions(place, [name.strip() for name in header])
            for place, cells in rows:
                if len(cells) != len(header):
                    self.fail(
                        place,
                        expected=f"{len(header)} cells as in the header",
                        got=len(cells),
                        todo="Quote cells that hold the delimiter.",
                    )
                yield place, self._entity({field: cells[at] for field, at in position.items()})

    def _rows(self, path: Path) -> Iterator[Tuple[Place, List[str]]]:
        tabs = path.name.removesuffix(".gz").endswith((".tsv", ".txt"))
        delimiter = self.delimiter or ("\t" if tabs else ",")
        table = csv.reader((line + "\n" for _, line in self.lines(path)), delimiter=delimiter, strict=True)
        try:
            for cells in table:
                if any(cells):
                    yield Place(path, table.line_num), cells
        except csv.Error as err:
            self.fail(
                Place(path, table.line_num), expected="a table", got=f"an error: {err}", todo="Fix the line."
            )

    def _positions(self, place: Place, header: List[str]) -> Dict[str, int]:
        position = {field: header.index(name) for field, name in self.columns.items() if name in header}
        missing = [self.columns[field] for field in sorted(self.needed - position.keys())]
        if missing or len(set(header)) < len(header):
            self.fail(
                place,
                expected=f"a header with {', '.join(self.columns[f] for f in self.columns)}, each once",
                got=f"{', '.join(header) or 'an empty one'}"
                + (f" (no {', '.join(missing)})" if missing else ""),
                todo="Rename the columns, or give their names in the setting 'columns'.",
            )
        unknown = [name for name in header if name not in self.columns.values()]
        for name in unknown:
            self.repair("unknown_column", place, f"no field uses the column {name!r}")
        return position

    def _entity(self, cells: Dict[str, str]) -> Entity:
        return Entity(
            concept_id=cells["concept_id"],
            canonical_name=cells["canonical_name"],
            aliases=tuple(cells.get("aliases", "").split(self.list_separator)),
            types=tuple(cells.get("types", "").split(self.list_separator)),
            definition=cells.get("definition"),
        )

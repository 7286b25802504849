"""Tables of a UMLS META folder: cells separated by bars, rows sorted by CUI, files whole or in parts."""

import re
from pathlib import Path
from typing import Callable, Iterator, List, NamedTuple, Optional, Tuple

from .reader_base import KBReaderBase, Place


class _Table(NamedTuple):
    n_cells: int
    needed: bool


_TABLES = {
    "MRCONSO": _Table(n_cells=18, needed=True),
    "MRSTY": _Table(n_cells=6, needed=True),
    "MRDEF": _Table(n_cells=8, needed=False),
    "MRRANK": _Table(n_cells=4, needed=False),
    "MRCUI": _Table(n_cells=7, needed=False),
}


class Group(NamedTuple):
    """The rows of one CUI; their cells are split when ``rows`` is called."""

    place: Place
    cui: str
    rows: Callable[[], List[List[str]]]


class RrfTables:
    """Streams the tables of one folder.

    reader (KBReaderBase): reads the lines, counts repairs.
    folder (Path): holds MRCONSO.RRF, or MRCONSO.RRF.gz, or the parts MRCONSO.RRF.aa(.gz), ….
    """

    def __init__(self, reader: KBReaderBase, folder: Path):
        self.reader = reader
        self.folder = folder

    def rows(self, name: str) -> Iterator[Tuple[Place, List[str]]]:
        """YIELDS (Tuple[Place, List[str]]): a table's rows; none if an optional table is not there."""
        for place, line in self._lines(name):
            yield place, self._cells(name, place, line)

    def groups(self, name: str) -> Iterator[Group]:
        """YIELDS (Group): the rows of each CUI. RAISES (PelError): if the CUIs are not sorted."""
        lines: List[Tuple[Place, str]] = []
        current = ""
        for place, line in self._lines(name):
            cui = line.partition("|")[0]
            if cui != current:
                if cui < current:
                    self.reader.fail(
                        place,
                        expected="rows sorted by CUI",
                        got=f"{cui} after {current}",
                        todo=f"Sort the table: LC_ALL=C sort {name}.RRF",
                    )
                if lines:
                    yield self._group(name, current, lines)
                current, lines = cui, []
            lines.append((place, line))
        if lines:
            yield self._group(name, current, lines)

    def join(self, name: str) -> Callable[[str], List[List[str]]]:
        """Read a table in parallel with another one.

        RETURNS (Callable[[str], List[List[str]]]): gives the rows of a CUI ([] = none); to be
            called with CUIs in rising order.
        """
        groups = self.groups(name)
        group: Optional[Group] = next(groups, None)

        def rows_of(cui: str) -> List[List[str]]:
            nonlocal group
            while group is not None and group.cui < cui:
                group = next(groups, None)
            return group.rows() if group is not None and group.cui == cui else []

        return rows_of

    def _group(self, name: str, cui: str, lines: List[Tuple[Place, str]]) -> Group:
        return Group(lines[0][0], cui, lambda: [self._cells(name, place, line) for place, line in lines])

    def _cells(self, name: str, place: Place, line: str) -> List[str]:
        cells = line.split("|")
        n_cells = _TABLES[name].n_cells
        if len(cells) < n_cells:
            self.reader.fail(
                place,
                expected=f"{n_cells} cells of {name} between bars",
                got=len(cells),
                todo="Download the table again, or export it from MetamorphoSys as RRF.",
            )
        return cells

    def _lines(self, name: str) -> Iterator[Tuple[Place, str]]:
        held = b""  # parts may be split anywhere: the end of one part continues at the start of the next
        place: Optional[Place] = None
        for part in self._parts(name):
            for place, raw in self.reader.raw_lines(part):
                held += raw
                if held.endswith(b"\n"):
                    yield place, self.reader.decode(place, held).rstrip("\r\n")
                    held = b""
        if held and place is not None:
            yield place, self.reader.decode(place, held)

    def _parts(self, name: str) -> List[Path]:
        files = {path.name: path for path in sorted(self.folder.iterdir())}
        for whole in (f"{name}.RRF", f"{name}.RRF.gz"):
            if whole in files:
                return [files[whole]]
        parts = [path for key, path in files.items() if re.fullmatch(rf"{name}\.RRF\.[a-z]{{2}}(\.gz)?", key)]
        if not parts and _TABLES[name].needed:
            self.reader.fail(
                Place(self.folder),
                expected=f"{name}.RRF (or .RRF.gz, or parts .RRF.aa …)",
                got="nothing",
                todo="Pass the META folder of a UMLS release.",
            )
        return parts

"""Tables of the UMLS or of RxNorm: cells separated by bars, files whole or in parts."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ...util.files import raw_blocks
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
    "RXNCONSO": _Table(n_cells=18, needed=True),
    "RXNSTY": _Table(n_cells=6, needed=False),
    "RXNCUI": _Table(n_cells=5, needed=False),
    "RXNATOMARCHIVE": _Table(n_cells=16, needed=False),
}


class Group(NamedTuple):
    """The rows of one CUI; their cells are split when ``rows`` is called."""

    place: Place  # of the first row
    cui: str
    rows: Callable[[], list[list[str]]]


class RrfTables:
    """Streams the tables of one release.

    Args:
        reader: reads the lines, counts repairs.
        paths: the folder, or the files: MRCONSO.RRF, or MRCONSO.RRF.gz, or the parts
            MRCONSO.RRF.aa(.gz), ….
        is_sorted: by CUI, as the UMLS is; False = whole tables are sorted in memory.
    """

    def __init__(self, reader: KBReaderBase, paths: Sequence[Path], *, is_sorted: bool = True):
        self.reader = reader
        self.folder = paths[0] if paths else Path("no files")
        files = self.folder.iterdir() if self.folder.is_dir() else paths
        self.files = {path.name: path for path in sorted(files)}
        self.is_sorted = is_sorted

    def rows(self, name: str) -> Iterator[tuple[Place, list[str]]]:
        """The place and the cells of a table's rows; none if an optional
        table is not there."""
        for place, lines in self._blocks(name):
            for number, cells in enumerate(self._cells(name, place, lines), start=place.line):
                yield place._replace(line=number), cells

    def groups(self, name: str) -> Iterator[Group]:
        """The rows of each CUI. RAISES (PelError): if they are not sorted."""
        current: str | None = None
        start, place = "|", Place(self.folder)
        rows: list[str] = []
        for first, lines in self._by_cui(name):
            for number, line in enumerate(lines, start=first.line):
                if current is not None and line.startswith(start):
                    rows.append(line)
                    continue
                cui = line.partition("|")[0]
                if rows and cui == current:  # without a bar: an error once its cells are read
                    rows.append(line)
                    continue
                here = Place(first.path, number)
                if current is not None and cui < current:
                    self.reader.fail(
                        here,
                        expected="rows sorted by CUI",
                        got=f"{cui} after {current}",
                        todo=f"Sort the table: LC_ALL=C sort {name}.RRF",
                    )
                if current is not None:
                    yield Group(place, current, partial(self._cells, name, place, rows))
                current, start, rows, place = cui, cui + "|", [line], here
        if current is not None:
            yield Group(place, current, partial(self._cells, name, place, rows))

    def join(self, name: str) -> Callable[[str], list[list[str]]]:
        """Read a table in parallel with another one.

        Returns:
            Gives the rows of a CUI ([] = none); to be
            called with CUIs in rising order.
        """
        groups = self.groups(name)
        group: Group | None = next(groups, None)

        def rows_of(cui: str) -> list[list[str]]:
            nonlocal group
            while group is not None and group.cui < cui:
                group = next(groups, None)
            return group.rows() if group is not None and group.cui == cui else []

        return rows_of

    def _by_cui(self, name: str) -> Iterator[tuple[Place, list[str]]]:
        """As ``_blocks``, with the rows of a CUI together."""
        if self.is_sorted:
            yield from self._blocks(name)
            return
        lines: list[str] = []
        for place, block in self._blocks(name):
            self._cells(name, place, block)  # names a faulty line, while its number is known
            lines += block
        lines.sort(key=lambda line: line.partition("|")[0])
        yield from ((Place(self.folder), [line]) for line in lines)

    def _cells(self, name: str, place: Place, lines: list[str]) -> list[list[str]]:
        """Args:
        place: of the first line.
        """
        rows = [line.split("|") for line in lines]
        n_cells = _TABLES[name].n_cells
        if min(map(len, rows), default=n_cells) < n_cells:
            at = next(at for at, cells in enumerate(rows) if len(cells) < n_cells)
            self.reader.fail(
                place._replace(line=place.line + at),
                expected=f"{n_cells} cells of {name} between bars",
                got=len(rows[at]),
                todo="Download the table again, or export it again as RRF.",
            )
        return rows

    def _blocks(self, name: str) -> Iterator[tuple[Place, list[str]]]:
        """The place of the first line, and thousands of lines."""
        held = b""  # parts may be split anywhere: the end of one part continues at the start of the next
        last: Place | None = None
        for part in self._parts(name):
            for number, raw in raw_blocks(part):
                if raw:
                    place = Place(part, number)
                    if number == 1 and not held:
                        raw[0] = raw[0].removeprefix(b"\xef\xbb\xbf")
                    raw[0] = held + raw[0]
                    held = b"" if raw[-1].endswith(b"\n") else raw.pop()
                    last = Place(part, number + len(raw))
                    yield place, self._decoded(place, raw)
        if held and last is not None:
            yield last, self._decoded(last, [held])

    def _decoded(self, place: Place, raw: list[bytes]) -> list[str]:
        try:
            text = b"".join(raw).decode("utf8")
        except UnicodeDecodeError:  # in some line: look at each of them
            places = (place._replace(line=number) for number, _ in enumerate(raw, start=place.line))
            text = "".join(map(self.reader.decode, places, raw))
        lines = text.replace("\r\n", "\n").split("\n")
        if "\r" in text:
            for number, line in enumerate(lines, start=place.line):
                if "\r" in line:
                    here = place._replace(line=number)
                    self.reader.repair("carriage_return", here, "a CR within the line")
        if not lines[-1]:
            lines.pop()  # what follows the last line end
        return lines

    def _parts(self, name: str) -> list[Path]:
        for whole in (f"{name}.RRF", f"{name}.RRF.gz"):
            if whole in self.files:
                return [self.files[whole]]
        parts = [path for key, path in self.files.items() if re.fullmatch(rf"{name}\.RRF\.[a-z]{{2}}(\.gz)?", key)]
        if not parts and _TABLES[name].needed:
            self.reader.fail(
                Place(self.folder),
                expected=f"{name}.RRF (or .RRF.gz, or parts .RRF.aa …)",
                got="no such file",
                todo="Pass the folder of the release, or all its tables.",
            )
        return parts

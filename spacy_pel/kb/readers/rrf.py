"""Tables of the UMLS or of RxNorm: cells separated by bars, files whole or in parts."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ...util.files import Place, raw_blocks, unexpected
from .reader_base import KBReaderBase

_N_CELLS = {
    **{"MRCONSO": 18, "MRSTY": 6, "MRDEF": 8, "MRRANK": 4, "MRCUI": 7, "MRREL": 16},
    **{"RXNCONSO": 18, "RXNSTY": 6, "RXNCUI": 5, "RXNATOMARCHIVE": 16, "RXNREL": 16},
}
_NEEDED = ("MRCONSO", "MRSTY", "RXNCONSO")
_Line = tuple[Path, int, str]  # file, number, text; no Place, as there are many millions


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

    def rows(self, name: str) -> Iterator[list[str]]:
        """The cells of a table's rows; none if an optional table is not there."""
        for line in self._lines(name):
            yield from self._cells(name, [line])

    def groups(self, name: str) -> Iterator[Group]:
        """The rows of each CUI.

        Raises:
            PelError: if they are not sorted.
        """
        lines: Iterator[_Line] = self._lines(name)
        if not self.is_sorted:
            lines = iter(sorted(lines, key=_cui))
        previous: Group | None = None
        for cui, group in groupby(lines, key=_cui):
            rows = list(group)
            place = Place(*rows[0][:2])
            if previous is not None:
                if cui < previous.cui:
                    todo = f"Sort the table: LC_ALL=C sort {name}.RRF"
                    raise unexpected(place, "rows sorted by CUI", f"{cui} after {previous.cui}", todo)
                yield previous
            previous = Group(place, cui, partial(self._cells, name, rows))
        if previous is not None:
            yield previous

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

    def _cells(self, name: str, lines: list[_Line]) -> list[list[str]]:
        rows, n_cells = [line.split("|") for _, _, line in lines], _N_CELLS[name]
        for (path, number, _), cells in zip(lines, rows, strict=True):
            if len(cells) < n_cells:
                todo = "Download the table again, or export it again as RRF."
                raise unexpected(Place(path, number), f"{n_cells} cells of {name} between bars", len(cells), todo)
        return rows

    def _lines(self, name: str) -> Iterator[_Line]:
        held = b""  # parts may be split anywhere: the end of one part continues at the start of the next
        last: Place | None = None
        for part in self._parts(name):
            for first, raw in raw_blocks(part):
                if raw:
                    if first == 1 and not held:
                        raw[0] = raw[0].removeprefix(b"\xef\xbb\xbf")
                    raw[0] = held + raw[0]
                    held = b"" if raw[-1].endswith(b"\n") else raw.pop()
                    last = Place(part, first + len(raw))
                    yield from self._decoded(Place(part, first), raw)
        if held and last is not None:
            yield from self._decoded(last, [held])

    def _decoded(self, place: Place, raw: list[bytes]) -> Iterator[_Line]:
        """The lines of a block, thousands of them; place: of its first line."""
        try:
            text = b"".join(raw).decode("utf8")
        except UnicodeDecodeError:  # in some line: look at each of them
            places = (place._replace(line=number) for number, _ in enumerate(raw, start=place.line))
            text = "".join(map(self.reader.decode, places, raw))
        lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []
        for number, line in enumerate(lines, start=place.line):
            if "\r" in line:
                self.reader.repair("carriage_return", place._replace(line=number), "a CR within the line")
            yield place.path, number, line

    def _parts(self, name: str) -> list[Path]:
        for whole in (f"{name}.RRF", f"{name}.RRF.gz"):
            if whole in self.files:
                return [self.files[whole]]
        parts = [path for key, path in self.files.items() if re.fullmatch(rf"{name}\.RRF\.[a-z]{{2}}(\.gz)?", key)]
        if not parts and name in _NEEDED:
            expected = f"{name}.RRF (or .RRF.gz, or parts .RRF.aa …)"
            todo = "Pass the folder that has it (META of the UMLS, rrf of RxNorm), or all tables."
            raise unexpected(self.folder, expected, "no such file", todo)
        return parts


def _cui(line: _Line) -> str:
    return line[2].partition("|")[0]

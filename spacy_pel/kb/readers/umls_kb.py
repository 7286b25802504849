"""Entities from a UMLS Metathesaurus or from RxNorm: the RRF tables of a folder, in one pass."""

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import ClassVar

from ...errors import quoted
from ...registry import registry
from ...types import Entity
from ...types.semantic_types import ST21PV_SOURCES
from ...util.files import Place, unexpected
from ...util.xrefs import normalize_xref
from .reader_base import KBReaderBase

_N_CELLS = {
    **{"MRCONSO": 18, "MRSTY": 6, "MRDEF": 8, "MRRANK": 4, "MRCUI": 7, "MRREL": 16, "MRSAB": 10},
    **{"RXNCONSO": 18, "RXNSTY": 6, "RXNCUI": 5, "RXNATOMARCHIVE": 16, "RXNREL": 16},
}
_NEEDED = ("MRCONSO", "MRSTY", "RXNCONSO")
_Line = tuple[Place, str]
_DEFINITION_SOURCES = ("MSH", "NCI", "HPO", "GO")  # in this order, then as in the file
# of RxNorm's own names, in the order of the UMLS
_TERM_TYPES = "SCD SBD SCDG SCDGP SBDG BPCK GPCK IN PSN MIN SCDF SCDFP SBDF SBDFP SCDC DFG DF SBDC BN PIN TMSY SY ET"
# what a broader concept is to the first one of a row: an ingredient to a brand, a part to a combination or a pack
_BROADER = frozenset("has_tradename inverse_isa has_form ingredient_of part_of contained_in".split())


@registry.pel_kb_readers("spacy-pel.UmlsKB.v1")
@dataclass(kw_only=True, eq=False)
class UmlsKB(KBReaderBase):
    """Reads MRCONSO and MRSTY, and MRDEF, MRRANK, MRCUI and (if asked for) MRREL if they are there.

    The tables are plain or gzipped, and sorted by CUI as NLM ships them, so that they are read side by side with one
    concept in memory at a time.

    * Names: by the filters; obsolete and suppressible ones are left out. The preferred name has the highest rank of
      its source and term type (MRRANK), then TS = P, then STT = PF, then ISPREF = Y, then comes first in the file;
      without MRRANK the flags decide. The aliases follow in the same order.
    * Definition: one that belongs to a name of the wanted languages and sources; of several,
      the first of MSH, NCI, HPO, GO, then the first in the file.
    * Cross references: the codes of the names. Parents: PAR without a further label, and isa, in MRREL.
    * Redirects: CUIs merged into one that is kept (MRCUI, REL = SY). Its other CUIs are obsolete.

    Args:
        types: keep concepts with any of these semantic types, e.g.
            ["T047", "T191"]; "st21pv" = MedMentions' 21 types and their descendants.
        id_prefix: keep concepts whose CUI starts with this.
        strict: turn repairs into errors.
        languages: keep names in these languages (LAT); None = ["ENG"].
        sources: keep names and definitions of these vocabularies (SAB), e.g.
            ["MSH", "SNOMEDCT_US"]; "st21pv" = MedMentions' 18 vocabularies; None = all.
        relations: read the parents. The table is by far the largest.
    """

    origin = "UMLS Metathesaurus, U.S. National Library of Medicine"
    licence = "UMLS Metathesaurus Licence: not to be passed on; sources have terms of their own"
    ids_are_unique = True
    filters = True
    prefix: ClassVar[str] = "MR"  # of the tables' names
    release: ClassVar[str] = r"20\d\d[A-Z]{2}"  # as the path has it

    languages: list[str] | None = None
    sources: list[str] | None = None
    relations: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.wanted_languages = frozenset(self.languages or ["ENG"])
        asked = {name: ST21PV_SOURCES if name.lower() == "st21pv" else frozenset([name]) for name in self.sources or ()}
        self.wanted_sources = frozenset().union(*asked.values()) if asked else None
        self.asked["sources"] = {**asked}
        self.asked["languages"] = {language: {language} for language in self.wanted_languages}

    def read(self, paths: Sequence[Path]) -> Iterator[tuple[Place, Entity]]:
        """The concepts that pass the filters, in order of CUI."""
        tables = RrfTables(self, paths)
        releases = re.findall(self.release, " ".join(str(path.resolve()) for path in paths))
        vocabularies = {row[3]: row for row in tables.rows("MRSAB") if row[21:22] != ["N"]}  # of this release
        inserted = max((row[9] for row in vocabularies.values()), default="")
        self.source["version"] = releases[-1] if releases else inserted
        n_names = Counter[str]()
        ranks = self._ranks(tables)

        def rank(row: list[str]) -> tuple[int, bool, bool, bool]:
            return ranks.get((row[11], row[12]), -1), row[2] == "P", row[4] == "PF", row[6] == "Y"

        types = tables.join(f"{self.prefix}STY")
        definitions = tables.join("MRDEF")
        parents = self._parents(tables) if self.relations else None
        live = array("l")  # numbers of the CUIs, sorted as the table is
        names = f"{self.prefix}CONSO"
        for cui, lines in tables.groups(names):
            types_here = tuple(dict.fromkeys([row[1] for row in types(cui)]))
            if not self.wants(cui, types_here):
                continue
            rows = tables.cells(names, lines)
            self.has["languages"].update(map(itemgetter(1), rows))
            rows = [row for row in rows if row[1] in self.wanted_languages]
            if self.wanted_sources is not None:
                self.has["sources"].update(map(itemgetter(11), rows))
                rows = [row for row in rows if self._of_source(row[11])]
            named = [row for row in rows if row[16] == "N"]  # neither obsolete nor suppressible
            if not named:
                continue
            defining = definitions(cui)
            definition = self._definition(defining, rows) if defining else None
            n_names.update(map(itemgetter(11), named))
            # stable: ties stay in file order
            name, *aliases = dict.fromkeys(row[14] for row in sorted(named, key=rank, reverse=True))
            number = _number(cui)
            if number >= 0:
                live.append(number)
            above = tuple(parents(cui)) if parents else ()
            yield lines[0][0], Entity(cui, name, tuple(aliases), types_here, definition, _codes(named), above)
        versions = {source: row[2] or source for source, row in vocabularies.items()}
        self.source["vocabularies"] = {versions.get(source, source): n for source, n in n_names.most_common()}
        self._read_history(tables, _Cuis(live))

    def _ranks(self, tables: "RrfTables") -> dict[tuple[str, str], int]:
        ranks: dict[tuple[str, str], int] = {}
        for rank, source, kind, *_ in tables.rows("MRRANK"):
            if not (rank.isascii() and rank.isdecimal() and len(rank) < 10):
                got = f"{quoted(rank)} for {source}|{kind}"
                raise unexpected(f"MRRANK of {tables.folder}", "a rank in digits", got)
            ranks[source, kind] = int(rank)
        return ranks

    def _definition(self, rows: Sequence[list[str]], named: Sequence[list[str]]) -> str | None:
        atoms = {row[7] for row in named}
        ranked = [
            (_DEFINITION_SOURCES.index(source) if source in _DEFINITION_SOURCES else len(_DEFINITION_SOURCES), text)
            for _, atom, _, _, source, text, suppress, *_ in rows
            if atom in atoms and self._of_source(source) and suppress == "N"
        ]
        return min(ranked, key=itemgetter(0))[1] if ranked else None

    def _parents(self, tables: "RrfTables") -> Callable[[str], Iterable[str]]:
        """Gives the parents of a concept; to be called with CUIs in rising order."""
        relations = tables.join("MRREL")

        def parents_of(cui: str) -> Iterable[str]:
            # the labels say what the second concept is to the first
            for _, _, _, relation, other, _, _, label, _, _, source, _, _, _, suppress, *_ in relations(cui):
                is_broader = label == "inverse_isa" or (relation == "PAR" and not label)
                if is_broader and other != cui and self._of_source(source) and suppress == "N":
                    yield other

        return lambda cui: dict.fromkeys(parents_of(cui))

    def _of_source(self, source: str) -> bool:
        return self.wanted_sources is None or source in self.wanted_sources

    def _read_history(self, tables: "RrfTables", live: "_Cuis") -> None:
        for old, _, relation, _, _, new, *_ in tables.rows("MRCUI"):
            if old in live:
                continue
            if relation == "SY" and new and (new in live or self.notes_obsolete):
                self.redirects[old] = new
            else:  # deleted, or split: related to broader (RB), narrower (RN) or other concepts (RO)
                self.note_obsolete(old, *filter(None, [new]))
        if self.notes_obsolete:
            self._settle_redirects(live)


def _codes(rows: Sequence[list[str]]) -> tuple[str, ...]:
    """As cross references, without those that are ids of concepts: MTH is the UMLS itself."""
    codes = (f"{row[11]}:{row[13]}" for row in rows if row[13] not in ("", "NOCODE", row[0]) and row[11] != "MTH")
    return tuple(dict.fromkeys(map(normalize_xref, codes)))


def _number(cui: str) -> int:
    digits = cui[1:]
    # of an array's items, at most 64 bits wide
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else -1


@dataclass
class _Cuis:
    """A set of CUIs in little memory: their numbers, ascending."""

    numbers: "array[int]"

    def __contains__(self, cui: object) -> bool:
        number = _number(str(cui))
        at = bisect_left(self.numbers, number)
        return at < len(self.numbers) and self.numbers[at] == number


@registry.pel_kb_readers("spacy-pel.RxNormKB.v1")
class RxNormKB(UmlsKB):
    """Reads RXNCONSO, and RXNSTY, RXNATOMARCHIVE, RXNCUI and (if asked for) RXNREL if they are there: the folder
    rrf of a release.

    The settings are those of UmlsKB.

    * Ids: RXCUIs. Some have names of other vocabularies only; ``sources=["RXNORM"]`` leaves them out.
    * Names: RxNorm's own first, by term type, then those of other vocabularies as in the file.
    * Parents: by isa, tradename_of, form_of, has_ingredient, has_part and contains.
    * Redirects: RXCUIs that were merged into one that is kept: by RXNCUI, unless one became several, else by
      the atoms of RXNATOMARCHIVE, RxNorm's own first.
    """

    origin = "RxNorm, U.S. National Library of Medicine"
    licence = "RxNorm's own names are free to use; those of other vocabularies need the UMLS licence"
    ids_are_unique = False  # the tables are not sorted as text
    prefix = "RXN"
    release = r"(?<!\d)[01]\d[0-3]\d20\d\d(?!\d)"

    def _begin(self, paths: Sequence[Path]) -> None:
        super()._begin(paths)
        if self.sources == ["RXNORM"]:
            self.source["licence"] = "free use with attribution of the NLM"

    def _ranks(self, tables: "RrfTables") -> dict[tuple[str, str], int]:
        return {("RXNORM", kind): rank for rank, kind in enumerate(reversed(_TERM_TYPES.split()))}

    def _parents(self, tables: "RrfTables") -> Callable[[str], Iterable[str]]:
        parents: dict[str, dict[str, None]] = {}
        for row in tables.rows("RXNREL"):
            cui, other, label, source = row[0], row[4], row[7], row[10]
            if label in _BROADER and cui and other not in ("", cui) and self._of_source(source):
                parents.setdefault(cui, {})[other] = None
        return lambda cui: parents.get(cui, ())

    def _read_history(self, tables: "RrfTables", live: object) -> None:
        archived = [(row[13] == "RXNORM", row[12], row[15]) for row in tables.rows("RXNATOMARCHIVE")]
        # the surest last
        self.redirects.update((old, new) for _, old, new in sorted(archived) if new and new != old)
        for old, _, _, cardinality, new, *_ in tables.rows("RXNCUI"):
            if cardinality == "1" and new and new != old:
                self.redirects[old] = new
            elif new != old:
                self.note_obsolete(old, *filter(None, [new]))


class RrfTables:
    """Streams the tables of one release.

    Args:
        reader: reads the lines, counts repairs. If its ids are unique, as in the UMLS, tables are sorted by CUI;
            otherwise whole tables are sorted in memory.
        paths: the folder, or the files, such as MRCONSO.RRF or MRCONSO.RRF.gz.
    """

    def __init__(self, reader: KBReaderBase, paths: Sequence[Path]):
        self.reader = reader
        self.folder = paths[0] if paths else Path("no files")
        files = self.folder.iterdir() if self.folder.is_dir() else paths
        self.files = {path.name: path for path in sorted(files)}

    def rows(self, name: str) -> Iterator[list[str]]:
        """The cells of a table's rows; none if an optional table is not there."""
        for line in self._lines(name):
            yield from self.cells(name, [line])

    def groups(self, name: str) -> Iterator[tuple[str, list[_Line]]]:
        """The lines of each CUI.

        Raises:
            PelError: if they are not sorted.
        """
        lines = self._lines(name)
        by_cui = groupby(lines if self.reader.ids_are_unique else sorted(lines, key=_cui), key=_cui)
        groups = ((cui, list(group)) for cui, group in by_cui)
        end: tuple[str, list[_Line]] = ("", [])
        for (cui, group), (following, later) in pairwise(chain(groups, [end])):
            if later and following < cui:
                todo = f"Sort the table: LC_ALL=C sort {name}.RRF"
                raise unexpected(later[0][0], "rows sorted by CUI", f"{following} after {cui}", todo)
            yield cui, group

    def join(self, name: str) -> Callable[[str], list[list[str]]]:
        """Read a table in parallel with another one.

        Returns:
            Gives the rows of a CUI ([] = none); to be
            called with CUIs in rising order.
        """
        groups = self.groups(name)
        group = next(groups, None)

        def rows_of(cui: str) -> list[list[str]]:
            nonlocal group
            while group is not None and group[0] < cui:
                group = next(groups, None)
            return self.cells(name, group[1]) if group is not None and group[0] == cui else []

        return rows_of

    def cells(self, name: str, lines: list[_Line]) -> list[list[str]]:
        """The cells of a table's lines."""
        rows, n_cells = [line.split("|") for _, line in lines], _N_CELLS[name]
        for (place, _), cells in zip(lines, rows, strict=True):
            if len(cells) < n_cells:
                todo = "Download the table again, or export it again as RRF."
                raise unexpected(place, f"{n_cells} cells of {name} between bars", len(cells), todo)
        return rows

    def _lines(self, name: str) -> Iterator[_Line]:
        path = self.files.get(f"{name}.RRF") or self.files.get(f"{name}.RRF.gz")
        if path is not None:
            return self.reader.lines(path)
        if name not in _NEEDED:
            return iter(())
        join = f"join parts, e.g. with: cat {name}.RRF.a? > {name}.RRF"
        todo = f"Pass the folder that has it (META of the UMLS, rrf of RxNorm), or all tables; {join}"
        raise unexpected(self.folder, f"{name}.RRF (or .RRF.gz)", "no such file", todo)


def _cui(line: _Line) -> str:
    return line[1].partition("|")[0]

"""Entities from a UMLS Metathesaurus: the RRF tables of a META folder, in one pass."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from .rrf import RrfTables

_DEFINITION_SOURCES = ("MSH", "NCI", "HPO", "GO")  # in this order, then as in the file


@registry.pel_kb_readers("spacy-pel.UmlsKB.v1")
@dataclass(kw_only=True, eq=False)
class UmlsKB(KBReaderBase):
    """Reads MRCONSO and MRSTY, and MRDEF, MRRANK, MRCUI and (if asked for) MRREL if they are there.

    The tables are plain or gzipped, whole or in parts, and sorted by CUI as NLM ships them, so
    that they are read side by side with one concept in memory at a time.

    * Names: by the filters. The preferred name has the highest rank of its source and term
      type (MRRANK), then TS = P, then STT = PF, then ISPREF = Y, then comes first in the file;
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
        suppressed: keep obsolete and suppressible names, definitions and relations too.
        codes: keep the codes of the names as cross references, e.g. "MESH:D001249".
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
    suppressed: bool = False
    codes: bool = True
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
        tables = RrfTables(self, paths, is_sorted=self.ids_are_unique)
        found = re.findall(self.release, " ".join(str(path.resolve()) for path in paths))
        self.source["version"] = found[-1] if found else ""
        ranks = self._ranks(tables)
        types = tables.join(f"{self.prefix}STY")
        definitions = tables.join("MRDEF")
        parents = self._parents(tables) if self.relations else None
        live = array("l")  # numbers of the CUIs, sorted as the table is
        for place, cui, group in tables.groups(f"{self.prefix}CONSO"):
            types_here = tuple(dict.fromkeys([row[1] for row in types(cui)]))
            if not self.wants(cui, types_here):
                continue
            rows = group()
            self.has["languages"].update(map(itemgetter(1), rows))
            rows = [row for row in rows if row[1] in self.wanted_languages]
            if self.wanted_sources is not None:
                self.has["sources"].update(map(itemgetter(11), rows))
                rows = [row for row in rows if self._of_source(row[11])]
            names = self._names(rows, ranks)
            if not names:
                continue
            defining = definitions(cui)
            definition = self._definition(defining, rows) if defining else None
            first, *others = dict.fromkeys(names)
            number = _number(cui)
            if number >= 0:
                live.append(number)
            codes = self._codes(rows) if self.codes else ()
            above = tuple(parents(cui)) if parents else ()
            yield place, Entity(cui, first, tuple(others), types_here, definition, codes, above)
        self._read_history(tables, _Cuis(live))

    def _ranks(self, tables: RrfTables) -> dict[tuple[str, str], int]:
        ranks: dict[tuple[str, str], int] = {}
        for rank, source, kind, *_ in tables.rows("MRRANK"):
            if not (rank.isascii() and rank.isdecimal() and len(rank) < 10):
                got = f"{quoted(rank)} for {source}|{kind}"
                raise unexpected(f"MRRANK of {tables.folder}", "a rank in digits", got)
            ranks[source, kind] = int(rank)
        return ranks

    def _names(self, rows: Sequence[list[str]], ranks: dict[tuple[str, str], int]) -> list[str]:
        """Best first."""
        ranked = []
        for row in rows:
            _, _, status, _, form, _, preferred, _, _, _, _, source, kind, _, text, _, suppress, *_ = row
            if suppress == "N" or self.suppressed:
                rank = (ranks.get((source, kind), -1), status == "P", form == "PF", preferred == "Y")
                ranked.append((rank, text))
        if len(ranked) > 1:
            ranked.sort(key=itemgetter(0), reverse=True)  # stable: ties stay in file order
        return [text for _, text in ranked]

    def _definition(self, rows: Sequence[list[str]], named: Sequence[list[str]]) -> str | None:
        atoms = {row[7] for row in named}
        ranked = [
            (_DEFINITION_SOURCES.index(source) if source in _DEFINITION_SOURCES else len(_DEFINITION_SOURCES), text)
            for _, atom, _, _, source, text, suppress, *_ in rows
            if atom in atoms and self._of_source(source) and (suppress == "N" or self.suppressed)
        ]
        return min(ranked, key=itemgetter(0))[1] if ranked else None

    def _codes(self, rows: Sequence[list[str]]) -> tuple[str, ...]:
        """Without those that are ids of concepts: MTH is the UMLS itself."""
        codes = {
            f"{row[11]}:{row[13]}": None
            for row in rows
            if row[13] not in ("", "NOCODE", row[0]) and row[11] != "MTH" and (row[16] == "N" or self.suppressed)
        }
        return tuple(dict.fromkeys(map(normalize_xref, codes)))

    def _parents(self, tables: RrfTables) -> Callable[[str], Iterable[str]]:
        """Gives the parents of a concept; to be called with CUIs in rising order."""
        relations = tables.join("MRREL")

        def parents_of(cui: str) -> Iterable[str]:
            # the labels say what the second concept is to the first
            for _, _, _, relation, other, _, _, label, _, _, source, _, _, _, suppress, *_ in relations(cui):
                is_broader = label == "inverse_isa" or (relation == "PAR" and not label)
                if is_broader and other != cui and self._of_source(source) and (suppress == "N" or self.suppressed):
                    yield other

        return lambda cui: dict.fromkeys(parents_of(cui))

    def _of_source(self, source: str) -> bool:
        return self.wanted_sources is None or source in self.wanted_sources

    def _read_history(self, tables: RrfTables, live: "_Cuis") -> None:
        for old, _, relation, _, _, new, *_ in tables.rows("MRCUI"):
            if old in live:
                continue
            if relation == "SY" and new and (new in live or self.notes_obsolete):
                self.redirects[old] = new
            else:  # deleted, or split: related to broader (RB), narrower (RN) or other concepts (RO)
                self.note_obsolete(old, *filter(None, [new]))
        if self.notes_obsolete:
            self._settle_redirects(live)


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

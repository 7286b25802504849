"""Releases of SNOMED CT, RxNorm and LOINC: entities, and names that are not the same but for blanks."""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy_pel.cli._settings import make_reader

from .entry import Counts, Entry, Read, opened

FULL_NAME = "900000000000003001"
LOINC_NAMES = ("LONG_COMMON_NAME", "SHORTNAME", "CONSUMER_NAME", "DisplayName")


def ours(name: str) -> Any:
    """Counts what a reader of knowledge bases gives."""

    def count(paths: list[Path]) -> Read:
        reader = make_reader("pel_kb_readers", name, {})
        names = {(one.concept_id, text) for one in reader(paths) for text in (one.canonical_name, *one.aliases)}
        return Read(counted(names), dict(reader.report))

    return count


def counted(names: Iterable[tuple[str, str]]) -> Counts:
    """names: of each entity its id and a name."""
    distinct = {(one, " ".join(text.split())) for one, text in names if text.strip()}
    return {"entities": len({one for one, _ in distinct}), "names": len(distinct)}


def rf2(paths: list[Path]) -> Counts:
    """Active descriptions of active concepts; full names without their tags."""
    tables = {path.name: _latest(path) for path in paths[0].rglob("*.txt")}
    concepts = next(table for name, table in tables.items() if "sct2_Concept" in name)
    live = {row["id"] for row in concepts if row["active"] == "1"}
    return counted(
        (row["conceptId"], re.sub(r"\s*\([^()]+\)\s*$", "", row["term"]) if row["typeId"] == FULL_NAME else row["term"])
        for name, table in tables.items()
        if "sct2_Description" in name
        for row in table
        if row["active"] == "1" and row["conceptId"] in live
    )


def _latest(path: Path) -> list[dict[str, str]]:
    with opened(path) as file:
        rows = sorted(
            csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE), key=lambda row: row["effectiveTime"]
        )
    return list({row["id"]: row for row in rows}.values())


def rxnorm(paths: list[Path]) -> Counts:
    """English names that are not suppressed."""
    with opened(paths[0] / "RXNCONSO.RRF") as file:
        rows = [line.split("|") for line in file]
    return counted((row[0], row[14]) for row in rows if row[1] == "ENG" and row[16] == "N")


def loinc(paths: list[Path]) -> Counts:
    """Names of terms that are neither deprecated nor discouraged."""
    gone: set[str] = {"DEPRECATED", "DISCOURAGED"}
    with opened(next(path for path in paths if path.name == "Loinc.csv")) as file:
        rows = [row for row in csv.DictReader(file) if row["STATUS"] not in gone]
    return counted((row["LOINC_NUM"], row[column]) for row in rows for column in LOINC_NAMES)


ENTRIES: list[Entry] = [
    Entry(("kb/rf2",), "rf2", ours("rf2"), rf2),
    Entry(("kb/rxnorm/rrf",), "rxnorm", ours("rxnorm"), rxnorm),
    Entry(("kb/loinc/Loinc.csv", "kb/loinc/MapTo.csv"), "loinc", ours("loinc"), loinc),
]

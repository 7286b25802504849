"""Compare what the readers give with what an independent parser finds in the same files.

    pip install bioc
    python -m benchmarks.readers --data /path/to/data

The data folder holds published files under the names in ``ENTRIES``; files that are missing are left out.
The package ``bioc`` reads PubTator and BioC, the standard library the tables and JSON lines. To add a file,
add an entry: its path, its format, and two functions from the file to counts.
"""

import csv
import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import IO, Annotated, Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

import typer
from rich.console import Console
from rich.table import Table

from spacy_pel.cli._settings import make_reader
from spacy_pel.errors import PelError
from spacy_pel.util import machine_note, write_json

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"
PUBTATOR = (
    *(f"medmentions/st21pv_official_{part}.pubtator.gz" for part in ("dev", "test")),
    *(f"bc5cdr/{part}_corpus.txt.gz" for part in ("train", "dev", "test")),
    *(f"ncbi_disease/NCBI{part}set_corpus.txt.gz" for part in ("train", "develop", "test")),
    "corpora/pubtator/tiny.txt",
)
BIOC = ("corpora/bioc/tiny.xml", "published/cdr.bioc.xml", "published/pubtator3.bioc.json")
NO_ID = {"", "-", "-1", "NIL", "None", "null", "CUI-less"}
NOT_A_REASON = {"documents", "mentions", "mismatches"}  # counts of a report that explain no difference

Counts = Dict[str, int]


class Read(NamedTuple):
    """What our reader gives: its counts, and its report, which explains what it left out."""

    counts: Counts
    report: Counts


class Entry(NamedTuple):
    """One file or, for formats of several files, one group; paths are relative to the data folder or to
    ``tests/fixtures``."""

    paths: Tuple[str, ...]
    format: str
    ours: Callable[[List[Path]], Read]
    theirs: Callable[[List[Path]], Counts]
    note: str = ""  # why the counts differ, where the report does not say it


def corpus(name: str, **settings: Any) -> Callable[[List[Path]], Read]:
    """RETURNS (Callable): counts what a corpus reader gives."""

    def count(paths: List[Path]) -> Read:
        reader = make_reader("pel_corpus_readers", name, settings)
        counts = Counter(documents=0, mentions=0, ids=0)
        for document in reader(paths):
            ids = sum(len(mention.ids) for mention in document.mentions)
            counts.update(documents=1, mentions=len(document.mentions), ids=ids)
        return Read(dict(counts), dict(reader.report))

    return count


def counts_of(documents: Iterable[List[str]]) -> Counts:
    """RETURNS (Dict[str, int]): of documents, each given as the id fields of its mentions."""
    counts = Counter(documents=0, mentions=0, ids=0)
    for fields in documents:
        ids = sum(len({part.strip() for part in re.split(r"[|+;,]", field)} - NO_ID) for field in fields)
        counts.update(documents=1, mentions=len(fields), ids=ids)
    return dict(counts)


def bioc_pubtator(paths: List[Path]) -> Counts:
    """RETURNS (Dict[str, int]): what the package ``bioc`` finds in PubTator."""
    from bioc import pubtator

    with opened(paths[0]) as file:
        return counts_of([one.id for one in document.annotations] for document in pubtator.load(file))


def bioc_collection(paths: List[Path]) -> Counts:
    """RETURNS (Dict[str, int]): what the package ``bioc`` finds in BioC."""
    from bioc import annotations, biocjson, biocxml

    with opened(paths[0]) as file:
        collection = (biocxml if ".xml" in paths[0].name else biocjson).load(file)
    return counts_of(
        [_identifier(found.annotation.infons) for found in annotations(document)]
        for document in collection.documents
    )


def _identifier(infons: Dict[str, str]) -> str:
    return next(
        (str(infons[key]) for key in ("identifier", "concept_id", "CUI", "MESH") if infons.get(key)), ""
    )


def bioc_brat(paths: List[Path]) -> Counts:
    """RETURNS (Dict[str, int]): what the package ``bioc`` finds in BRAT, of which it reads no ids."""
    from bioc import brat

    counts = Counter(documents=0, mentions=0, ids=0)
    for text in sorted(paths[0].rglob("*.txt")):
        with opened(text) as file, opened(text.with_suffix(".ann")) as annotations:
            counts.update(documents=1, mentions=len(brat.load(file, annotations).entities))
    return dict(counts)


def craft_table(paths: List[Path]) -> Counts:
    """RETURNS (Dict[str, int]): the texts, and the rows of the table of concepts."""
    texts, table = sorted(paths, key=lambda path: ".tsv" in path.name)
    fields: Dict[str, List[str]] = {str(json.loads(line)["pmid"]): [] for line in opened(texts)}
    for row in csv.DictReader(opened(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        fields[row["pmid"]].append(row["id"])
    return counts_of(fields.values())


def st21pv_lines(paths: List[Path]) -> Counts:
    """RETURNS (Dict[str, int]): the mentions in the sentences of JSON lines."""
    return counts_of(
        [mention["cui"] for sentence in json.loads(line)["sentences"] for mention in sentence["mentions"]]
        for line in opened(paths[0])
    )


def mention_rows(paths: List[Path]) -> Counts:
    """RETURNS (Dict[str, int]): the rows of a list of mentions by their document."""
    fields: Dict[str, List[str]] = {}
    for row in csv.DictReader(opened(paths[0]), delimiter="\t", quoting=csv.QUOTE_NONE):
        fields.setdefault(row["pmid"], []).append(row["cui"])
    return counts_of(fields.values())


def opened(path: Path) -> IO[str]:
    """RETURNS (IO[str]): a text file, plain or gzipped."""
    return gzip.open(path, "rt", encoding="utf8") if path.suffix == ".gz" else path.open(encoding="utf8")


ENTRIES: List[Entry] = [
    *(Entry((path,), "pubtator", corpus("pubtator"), bioc_pubtator) for path in PUBTATOR),
    *(Entry((path,), "bioc", corpus("bioc"), bioc_collection) for path in BIOC),
    *(
        Entry(
            (path,), "pubtator", corpus("pubtator"), bioc_pubtator, note="the parts of a variant are no ids"
        )
        for path in ("published/biored.pubtator", "published/pubtator3.pubtator")
    ),
    Entry(("corpora/brat/tiny",), "brat", corpus("brat"), bioc_brat, note="the other parser reads no ids"),
    Entry(
        ("craft/craft_texts.jsonl.gz", "craft/craft_concepts.tsv.gz"), "craft", corpus("craft"), craft_table
    ),
    *(
        Entry((f"medmentions/st21pv_{part}.jsonl.gz",), "st21pv", corpus("st21pv"), st21pv_lines)
        for part in ("train", "test")
    ),
    Entry(("medmentions/st21pv_mentions.tsv.gz",), "mentionlist", corpus("mentionlist"), mention_rows),
]


def located(entry: Entry, data: Optional[Path]) -> List[Path]:
    """RETURNS (List[Path]): the files of an entry, in the data folder or the fixtures; empty if one is
    missing."""
    for folder in (data, FIXTURES):
        paths = [folder / path for path in entry.paths] if folder else []
        if paths and all(path.exists() for path in paths):
            return paths
    return []


def compare(entry: Entry, paths: List[Path]) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): the counts of one entry by our reader and by the other parser, and what the
    report of our reader says about the difference."""
    ours, failure, theirs = entry.ours(paths), "", {}
    try:
        theirs = entry.theirs(paths)
    except ModuleNotFoundError:
        raise
    except Exception as err:  # whatever the other parser raises on a file that it cannot read
        failure = f"the other parser failed: {err!r}"
    reasons = {key: n for key, n in ours.report.items() if n and key not in NOT_A_REASON}
    return {
        "file": ", ".join(path.name for path in paths),
        "format": entry.format,
        "ours": ours.counts,
        "theirs": theirs,
        "equal": ours.counts == theirs,
        "report": reasons,
        "note": failure or entry.note,
    }


def table_of(rows: Iterable[Dict[str, Any]]) -> Table:
    """RETURNS (Table): a row for each file; where the counts differ, with the reader's report."""
    table = Table("file", "format", "counted", "ours", "theirs", "equal, or the reader's report")
    for row in rows:
        names = list(dict.fromkeys([*row["ours"], *row["theirs"]]))
        reasons = [row["note"]] if row["note"] else []
        reasons += [f"{n:,} {key.replace('_', ' ')}" for key, n in row["report"].items()]
        shown = ["\n".join(f"{row[side].get(name, 0):,}" for name in names) for side in ("ours", "theirs")]
        table.add_row(
            row["file"],
            row["format"],
            "\n".join(names),
            *shown,
            "equal" if row["equal"] else ", ".join(reasons) or "unexplained",
        )
    return table


def main(
    data: Annotated[Optional[Path], typer.Option(help="The folder of published files.")] = None,
    only: Annotated[str, typer.Option(help="Compare the entries of this format.")] = "",
    output: Annotated[Optional[Path], typer.Option(help="Write the counts to this JSON file.")] = None,
) -> None:
    """Print the counts of each file by our reader and by an independent parser."""
    rows = []
    for entry in ENTRIES:
        paths = located(entry, data)
        if not paths:
            typer.echo(f"Left out, not there: {', '.join(entry.paths)}", err=True)
        elif only in ("", entry.format):
            try:
                rows.append(compare(entry, paths))
            except ModuleNotFoundError as err:
                typer.echo(f"Error: Expected the package {err.name}. Run: pip install {err.name}", err=True)
                raise typer.Exit(2) from err
            except PelError as err:
                typer.echo(f"Error: {err}", err=True)
                raise typer.Exit(2) from err
    Console(width=130).print(table_of(rows))
    Console(width=130).print(machine_note(), soft_wrap=True)
    if output is not None:
        write_json(output, {"machine": machine_note(), "files": rows})


if __name__ == "__main__":
    typer.run(main)

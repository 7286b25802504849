"""Corpora: documents, mentions and ids. The package ``bioc`` reads PubTator and BioC."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from spacy_pel.cli._settings import make_reader

from .entry import Counts, Entry, Read, opened

PUBTATOR = (
    *(f"medmentions/st21pv_official_{part}.pubtator.gz" for part in ("dev", "test")),
    *(f"bc5cdr/{part}_corpus.txt.gz" for part in ("train", "dev", "test")),
    *(f"ncbi_disease/NCBI{part}set_corpus.txt.gz" for part in ("train", "develop", "test")),
    "corpora/pubtator/tiny.txt",
)
BIOC = ("corpora/bioc/tiny.xml", "published/cdr.bioc.xml", "published/pubtator3.bioc.json")
NO_ID = {"", "-", "-1", "NIL", "None", "null", "CUI-less"}


def corpus(name: str, **settings: Any) -> Callable[[list[Path]], Read]:
    """Counts what a corpus reader gives."""

    def count(paths: list[Path]) -> Read:
        reader = make_reader("pel_corpus_readers", name, settings)
        counts = Counter(documents=0, mentions=0, ids=0)
        for document in reader(paths):
            ids = sum(len(mention.ids) for mention in document.mentions)
            counts.update(documents=1, mentions=len(document.mentions), ids=ids)
        return Read(dict(counts), dict(reader.report))

    return count


def counts_of(documents: Iterable[list[str]]) -> Counts:
    """Of documents, each given as the id fields of its mentions."""
    counts = Counter(documents=0, mentions=0, ids=0)
    for fields in documents:
        ids = sum(len({part.strip() for part in re.split(r"[|+;,]", field)} - NO_ID) for field in fields)
        counts.update(documents=1, mentions=len(fields), ids=ids)
    return dict(counts)


def bioc_pubtator(paths: list[Path]) -> Counts:
    """What the package ``bioc`` finds in PubTator."""
    from bioc import pubtator

    with opened(paths[0]) as file:
        return counts_of([one.id for one in document.annotations] for document in pubtator.load(file))


def bioc_collection(paths: list[Path]) -> Counts:
    """What the package ``bioc`` finds in BioC."""
    from bioc import annotations, biocjson, biocxml

    with opened(paths[0]) as file:
        collection = (biocxml if ".xml" in paths[0].name else biocjson).load(file)
    return counts_of(
        [_identifier(found.annotation.infons) for found in annotations(document)] for document in collection.documents
    )


def _identifier(infons: dict[str, str]) -> str:
    return next((str(infons[key]) for key in ("identifier", "concept_id", "CUI", "MESH") if infons.get(key)), "")


def bioc_brat(paths: list[Path]) -> Counts:
    """What the package ``bioc`` finds in BRAT, of which it reads no ids."""
    from bioc import brat

    counts = Counter(documents=0, mentions=0, ids=0)
    for text in sorted(paths[0].rglob("*.txt")):
        with opened(text) as file, opened(text.with_suffix(".ann")) as annotations:
            counts.update(documents=1, mentions=len(brat.load(file, annotations).entities))
    return dict(counts)


def craft_table(paths: list[Path]) -> Counts:
    """The texts, and the rows of the table of concepts."""
    texts, table = sorted(paths, key=lambda path: ".tsv" in path.name)
    fields: dict[str, list[str]] = {str(json.loads(line)["pmid"]): [] for line in opened(texts)}
    for row in csv.DictReader(opened(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        fields[row["pmid"]].append(row["id"])
    return counts_of(fields.values())


def st21pv_lines(paths: list[Path]) -> Counts:
    """The mentions in the sentences of JSON lines."""
    return counts_of(
        [mention["cui"] for sentence in json.loads(line)["sentences"] for mention in sentence["mentions"]]
        for line in opened(paths[0])
    )


ENTRIES: list[Entry] = [
    *(Entry((path,), "pubtator", corpus("pubtator"), bioc_pubtator) for path in PUBTATOR),
    *(Entry((path,), "bioc", corpus("bioc"), bioc_collection) for path in BIOC),
    *(
        Entry((path,), "pubtator", corpus("pubtator"), bioc_pubtator, note="the parts of a variant are no ids")
        for path in ("published/biored.pubtator", "published/pubtator3.pubtator")
    ),
    Entry(("corpora/brat/tiny",), "brat", corpus("brat"), bioc_brat, note="the other parser reads no ids"),
    Entry(("craft/craft_texts.jsonl.gz", "craft/craft_concepts.tsv.gz"), "craft", corpus("craft"), craft_table),
    *(
        Entry((f"medmentions/st21pv_{part}.jsonl.gz",), "st21pv", corpus("st21pv"), st21pv_lines)
        for part in ("train", "test")
    ),
]

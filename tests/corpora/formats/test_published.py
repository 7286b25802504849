"""Small files in the form of published corpora: BioRED, PubTator3 and BC5CDR."""

from pathlib import Path

import pytest

from spacy_pel.cli._settings import make_reader

PUBLISHED = Path(__file__).parents[2] / "fixtures" / "published"
FILES = {
    "biored.pubtator": ("pubtator", {"documents": 2, "mentions": 10, "relations": 3}, 11),
    "pubtator3.pubtator": ("pubtator", {"documents": 1, "mentions": 9, "relations": 2, "normalised": 2}, 12),
    "pubtator3.bioc.json": ("bioc", {"documents": 1, "mentions": 5, "relations": 1}, 5),
    "cdr.bioc.xml": ("bioc", {"documents": 1, "mentions": 3, "relations": 1, "discontinuous": 1}, 2),
}


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_lost(file):
    name, counts, n_ids = FILES[file]
    reader = make_reader("pel_corpus_readers", name, {})
    documents = list(reader([PUBLISHED / file]))
    assert {key: n for key, n in reader.report.items() if n} == counts
    assert sum(len(mention.ids) for document in documents for mention in document.mentions) == n_ids

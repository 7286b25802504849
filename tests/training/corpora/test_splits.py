"""What is split is split by original documents, and by their hashes."""

import pytest

from spacy_pel.errors import PelError
from spacy_pel.training.corpora.preparation import read_ids, split_by_hash
from spacy_pel.types import Document


def corpus(n):
    return [Document(str(number), f"text {number}") for number in range(n)]


def test_carve_does_not_depend_on_the_order():
    fit, dev = split_by_hash(corpus(95), 0.1)
    assert len(dev) == 10 and len(fit) == 85  # round(9.5) = 10: Python rounds to even
    _, again = split_by_hash(reversed(corpus(95)), 0.1)
    assert {document.id for document in again} == {document.id for document in dev}
    assert [int(document.id) for document in fit] == sorted(int(document.id) for document in fit)
    assert {document.id for document in split_by_hash(corpus(95), 0.2)[1]} > {document.id for document in dev}


def test_carve_keeps_the_documents_of_an_id_together():
    fit, dev = split_by_hash(corpus(10) + corpus(10), 0.5)
    assert len(fit) == len(dev) == 10
    assert not {document.id for document in fit} & {document.id for document in dev}


def test_carve_is_the_documented_hash():
    # the first of 0..4 by BLAKE2b-64, computed with b2sum -l 64
    _, dev = split_by_hash(corpus(5), 0.2)
    assert [document.id for document in dev] == ["2"]


def test_read_ids(tmp_path):
    path = tmp_path / "ids.txt"
    path.write_text("1\n\n 22 \r\n", encoding="utf8")
    assert read_ids(path) == {"1", "22"}
    path.write_text("\n", encoding="utf8")
    with pytest.raises(PelError, match="document ids, one per line"):
        read_ids(path)

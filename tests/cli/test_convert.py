"""The command ``convert``: results on stdout, one line of error and exit code 2."""

from pathlib import Path

import pytest
import spacy

from spacy_pel import KnowledgeBase
from spacy_pel.corpora import read_corpus
from spacy_pel.types import Entity

from .conftest import run as run_command

FIXTURES = Path(__file__).parents[1] / "fixtures" / "corpora"
PUBTATOR = str(FIXTURES / "pubtator" / "tiny.txt")


def run(*args):
    return run_command("convert", *args)


def test_convert_with_settings(tmp_path):
    out = tmp_path / "out.jsonl"
    done = run(out, "--reader", "pubtator", PUBTATOR, "--set", "strip_prefix=MESH:", "--set", "label=X", "--json")
    assert done.code == 0, done.err
    result = done.json
    assert result["read"]["documents"] == 3 and result["mismatch_share"] == 0.0
    assert result["written"] == [{"path": str(out), "documents": 3, "mentions": 9, "nil": 1}]
    documents = list(read_corpus(out))
    assert documents[0].mentions[0].ids == ("D001241",) and documents[0].mentions[0].label == "X"
    text = run(out, "--reader", "pubtator", PUBTATOR).out
    assert "documents: 3\nmentions: 9\n" in text and "relations: 1" in text


@pytest.mark.parametrize("number", ["1.10", "007"])
def test_a_number_may_be_a_text(tmp_path, number):
    done = run(tmp_path / "out.jsonl", "--reader", "pubtator", PUBTATOR, "--set", f"label={number}")
    assert done.code == 0, done.err
    assert next(read_corpus(tmp_path / "out.jsonl")).mentions[0].label == number


def test_split_and_carve(tmp_path):
    ids = tmp_path / "ids.txt"
    ids.write_text("100\n102\n999\n", encoding="utf8")
    fit, dev = tmp_path / "fit.jsonl", tmp_path / "dev.jsonl"
    args = [fit, "--reader", "pubtator", PUBTATOR, "--split", ids, "--dev-share", 0.5, "--dev-out", dev, "--json"]
    done = run(*args)
    assert done.code == 0, done.err
    assert done.json["read"]["ids_not_found"] == 1
    written = [[document.id for document in read_corpus(path)] for path in (fit, dev)]
    assert sorted(written) == [["100"], ["102"]]


def test_docbin_out(tmp_path):
    done = run(tmp_path / "out.spacy", "--reader", "jsonl", FIXTURES / "jsonl" / "tiny.jsonl", "--json")
    assert done.code == 0, done.err
    assert done.json["written"][0]["overlapping"] == 1
    docs = list(spacy.tokens.DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab))
    assert [ent.kb_id_ for ent in docs[0].ents][:2] == ["D001241", "D012202"]


@pytest.mark.parametrize(
    "args,words",
    [
        (["--reader", "pubtatr", PUBTATOR], "No part named 'pubtatr'"),
        (["--reader", "pubtator", "no/such.txt"], "got no such file"),
        (["--reader", "pubtator", PUBTATOR, "--set", "lable=X"], "has no setting lable"),
        (["--reader", "pubtator", PUBTATOR, "--dev-share", "0.1"], "got only --dev-share"),
        (["--reader", "pubtator", PUBTATOR, "--split", PUBTATOR], "E212"),
        (["--reader", "pubtator", PUBTATOR, "--preprocess", "lowercase,lowercase"], "E243"),
        (["--reader", "pubtator", PUBTATOR, "--set", "lowercase.x=1"], "E242"),
        (["--reader", "pubtator", PUBTATOR, "--vocabulary", "MESH"], "Expected --ids-by KB with --vocabulary"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path, args, words):
    done = run(tmp_path / "out.jsonl", *args)
    assert done.code == 2 and done.out == ""
    assert words in done.err and done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def kb(tmp_path):
    """Knows the ids of tiny.txt as cross references, one of them for two entities."""
    codes = ["D001241", "D012202", "D001943 D003110", "D010051 D014786", "D006311", "D006311"]
    xrefs = [tuple(f"MESH:{code}" for code in some.split()) for some in codes]
    entities = [Entity(f"C0{n}", f"C0{n}", xrefs=some) for n, some in enumerate(xrefs, start=1)]
    return KnowledgeBase.build([*entities, Entity("C0005283", "thalassaemia")], tmp_path / "kb").path


def test_ids_become_those_of_the_kb_where_one_entity_has_them(tmp_path, kb):
    out = tmp_path / "out.jsonl"
    by_kb = [out, "--reader", "pubtator", PUBTATOR, "--ids-by", kb, "--vocabulary", "MESH"]
    done = run(*by_kb, "--json")
    assert done.code == 0, done.err
    # of alternatives one is enough, of the parts of a composite mention each needs one
    assert done.json["ids"] == {"already_in_kb": 0, "mapped": 6, "ambiguous": 1, "no_link": 1, "no_id": 1}
    documents = {document.id: document for document in read_corpus(out)}
    found = {key: [(one.ids, one.composite) for one in documents[key].mentions] for key in documents}
    assert found == {
        "100": [(("C01",), False), (("C02",), False), (("C03", "C04"), True), (("C04",), False)],
        "101": [(("C03",), False), (("C03",), False)],  # both parts are one entity
        "102": [],  # the document stays
    }
    assert run(*by_kb, "--keep-unlinked", "--json").json["written"][0]["mentions"] == 9
    kept = {one.ids for document in read_corpus(out) for one in document.mentions}
    assert {("MESH:D017086", "MESH:C0005283"), ("D014786", "D006311"), ()} < kept
    assert "mapped: 6\nambiguous: 1\nno link: 1\nno id: 1\n" in run(*by_kb).out


def test_ids_of_the_kb_stay(tmp_path, kb):
    args = [tmp_path / "out.jsonl", "--reader", "pubtator", PUBTATOR, "--ids-by", kb, "--set", "strip_prefix=MESH:"]
    done = run(*args, "--json")
    assert done.json["ids"] == {"already_in_kb": 0, "mapped": 1, "ambiguous": 0, "no_link": 7, "no_id": 1}
    (thalassaemia,) = [one for document in read_corpus(tmp_path / "out.jsonl") for one in document.mentions]
    assert thalassaemia.ids == ("C0005283",)


def test_no_id_that_the_kb_knows(tmp_path, kb):
    args = [tmp_path / "out.jsonl", "--reader", "pubtator", PUBTATOR, "--ids-by", kb]
    KnowledgeBase.build([Entity("C01", "a")], kb)
    done = run(*args)
    assert done.code == 2 and "PEL-E214" in done.err and not (tmp_path / "out.jsonl").exists()
    assert "8 mentions" in done.err and "'MESH:D001241'" in done.err


@pytest.mark.parametrize(
    "kind, ids, label, counted",
    [
        ("T038", "", "BIOLOGIC_FUNCTION", "typed_by_corpus"),
        ("T116,T123", "C2", "CHEMICAL", "typed_by_corpus"),
        ("ENTITY", "C1", "BIOLOGIC_FUNCTION", "typed_by_entity"),
        ("Disease", "C2", "CHEMICAL", "typed_by_entity"),  # of most of its types
        ("ENTITY", "C9|C1", "BIOLOGIC_FUNCTION", "typed_by_entity"),
        ("ENTITY", "C3", "", "without_type"),  # a type that ST21pv lacks
    ],
)
def test_labels_become_semantic_types(tmp_path, kind, ids, label, counted):
    entities = [Entity("C1", "a", types=("T047",)), Entity("C3", "c", types=("T051", "other"))]
    entities.append(Entity("C2", "b", types=("T047", "T109", "T121")))
    kb = KnowledgeBase.build(entities, tmp_path / "kb").path
    (tmp_path / "one.txt").write_text(f"1|t|Fever\n1\t0\t5\tFever\t{kind}\t{ids}\n", encoding="utf8")
    done = run(tmp_path / "out.jsonl", "--reader", "pubtator", tmp_path / "one.txt", "--labels-by", kb, "--json")
    assert done.code == 0, done.err
    ((mention,),) = [document.mentions for document in read_corpus(tmp_path / "out.jsonl")]
    assert mention.label == label and {key for key, n in done.json["labels"].items() if n} == {counted}
    assert set(mention.ids) == set(filter(None, ids.split("|")))


def test_documents_of_other_corpora_are_left_out(tmp_path):
    ids, corpus, out = tmp_path / "ids.txt", tmp_path / "test.jsonl", tmp_path / "out.jsonl"
    ids.write_text("101\n7\n", encoding="utf8")
    read = ["--reader", "pubtator", PUBTATOR, "--json"]
    assert run(corpus, *read, "--split", ids).code == 0
    done = run(out, *read, "--without", corpus)
    assert done.code == 0 and done.json["read"]["documents_left_out"] == 1
    assert [document.id for document in read_corpus(out)] == ["100", "102"]
    low = tmp_path / "low.jsonl"
    assert run(low, *read, "--preprocess", "lowercase").code == 0
    done = run(out, "--reader", "jsonl", low, "--without", low, "--without", ids, "--json")
    assert done.code == 0 and done.json["written"][0]["documents"] == 0  # whatever was made from a document
    done = run(out, *read, "--split", low, "--without", ids)
    assert [document.id for document in read_corpus(out)] == ["100", "102"]


def test_a_repeated_document_is_written_once(tmp_path):
    source = tmp_path / "twice.txt"
    source.write_text("1|t|Fever.\n1\t0\t5\tFever\tT\tC1\n\n" * 2 + "1|t|Rash.\n", encoding="utf8")
    done = run(tmp_path / "out.jsonl", "--reader", "pubtator", source, "--json")
    assert done.json["read"]["repeated_documents"] == done.json["read"]["duplicate_ids"] == 1
    assert [document.text for document in read_corpus(tmp_path / "out.jsonl")] == ["Fever.", "Rash."]


def pubtator(tmp_path, n, missing):
    lines = [f"1\t0\t5\t{'rash' if place < missing else 'Fever'}\tT{place}\tC1" for place in range(n)]
    (tmp_path / "x.txt").write_text("\n".join(["1|t|Fever.", *lines]))
    return ["--reader", "pubtator", tmp_path / "x.txt"]


def test_dropped_mentions(tmp_path):
    out = tmp_path / "out.jsonl"
    done = run(out, *pubtator(tmp_path, 20, 1))
    assert done.code == 0 and done.err == "" and "dropped: 1" in done.out
    done = run(out, *pubtator(tmp_path, 20, 10))
    assert done.code == 0 and "W250] 10 of 20 mentions (50%)" in done.err
    assert ": expected 'rash' at characters 0 to 5, got 'Fever'." in done.err
    before = out.read_bytes()
    done = run(out, *pubtator(tmp_path, 20, 11))
    assert done.code == 2 and done.out == "" and out.read_bytes() == before
    assert "E250" in done.err and "11 of 20 (55%)" in done.err and "--keep-going" in done.err
    done = run(out, *pubtator(tmp_path, 20, 11), "--keep-going", "--json")
    assert done.code == 0 and "W250" in done.err
    assert done.json["read"]["dropped"] == 11

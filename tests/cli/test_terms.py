"""``map`` and ``check``: lists of terms and codes as files."""

import csv
import json
import shutil

import pyarrow.parquet as pq
import pytest
import yaml

from spacy_pel.corpora import write_corpus
from spacy_pel.engines import terms as terms_of_engines
from spacy_pel.types import Document, Mention
from spacy_pel.util import read_jsonl, write_jsonl

from .conftest import done, refused, run

pytestmark = pytest.mark.slow

TERMS = [
    ("a", "Strokes"),
    ("b", "zebra fish"),
    ("c", "severe asthma"),
    ("d", "Strokes"),
    ("e", "heart attack disorder"),
]
IDS, NAME = ["C3", "NIL", "C6", "C3", "C2"], "preferred name"


@pytest.fixture
def terms(tmp_path):
    lines = [f"{key},{term},T047,we saw {term} here" for key, term in TERMS]
    (tmp_path / "terms.csv").write_text("\n".join(["id,Term,kind,note", *lines, ""]))
    return tmp_path / "terms.csv"


def read(path):
    with path.open(newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t" if path.suffix == ".tsv" else ","))


def test_a_table_of_terms_to_every_format(folder, terms, tmp_path):
    made = {}
    for name in ("out.csv", "out.tsv", "out.jsonl", "out.parquet"):
        result = done("map", folder / "pipeline", terms, tmp_path / name, "--top-k", 2, "--json").json
        assert (result["terms"], result["mapped"], result["nil"]) == (5, 4, 1)
    made["csv"], made["tsv"] = read(tmp_path / "out.csv"), read(tmp_path / "out.tsv")
    made["jsonl"] = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    made["parquet"] = pq.read_table(tmp_path / "out.parquet").to_pylist()
    for rows in made.values():
        assert [(row["row"], row["term"]) for row in rows] == TERMS
        assert [row["id"] for row in rows] == IDS
        assert [row["rests_on"] or "NIL" for row in rows] == [NAME, "NIL", NAME, NAME, "synonym"]
        assert [row["relation"] or None for row in rows] == ["exact", None, "broader", "exact", "exact"]
        assert rows[0]["kind"] == "T047" and rows[2]["name"] == "asthma"
    assert made["jsonl"] == made["parquet"] and made["csv"] == made["tsv"]
    alternatives = made["jsonl"][0]["alternatives"]
    assert len(alternatives) == 2 and alternatives[0]["id"] != "C3"
    assert made["csv"][0]["alternatives"].count(" | ") == 1


def test_sssom_and_usagi(folder, terms, tmp_path):
    done("map", folder / "pipeline", terms, tmp_path / "out.sssom.tsv")
    lines = (tmp_path / "out.sssom.tsv").read_text().splitlines()
    head = yaml.safe_load("\n".join(line[1:] for line in lines if line.startswith("#")))
    rows = read(tmp_path / "out.sssom.tsv")
    used = {row[name].partition(":")[0] for row in rows for name in ("subject_id", "object_id")}
    assert used - {"sssom"} == set(head["curie_map"])
    assert [row["object_id"] for row in rows] == ["ID:C3", "sssom:NoTermFound", "ID:C6", "ID:C3", "ID:C2"]
    assert [row["predicate_id"] for row in rows[1:3]] == ["skos:exactMatch", "skos:broadMatch"]
    assert {row["mapping_justification"] for row in rows} == {"semapv:LexicalMatching"}
    assert 0 <= float(rows[0]["confidence"]) <= 1

    done("map", folder / "pipeline", terms, tmp_path / "out.csv", "--format", "usagi")
    row = read(tmp_path / "out.csv")[2]
    assert (row["sourceCode"], row["sourceName"], row["equivalence"]) == ("c", "severe asthma", "WIDER")
    assert row["sourceAutoAssignedConceptIds"].startswith("C6;")

    (tmp_path / "one.txt").write_text("crhonic fatiguing")  # its answer rests on its vector
    done("map", folder / "pipeline", tmp_path / "one.txt", tmp_path / "one.sssom.tsv", "--always")
    done("map", folder / "pipeline", tmp_path / "one.txt", tmp_path / "one.csv", "--always", "--format", "usagi")
    assert read(tmp_path / "one.sssom.tsv")[0]["predicate_id"] == "skos:closeMatch"
    assert read(tmp_path / "one.csv")[0]["equivalence"] == "INEXACT"
    done("map", folder / "pipeline", tmp_path / "one.txt", tmp_path / "two.csv", "--always")
    assert [(row["relation"], row["rests_on"]) for row in read(tmp_path / "two.csv")] == [("close", "vector")]


def test_a_decision_keeps_its_relation_in_every_format(folder, terms, tmp_path):
    relations = {"a": "close", "c": "broader", "d": "exact", "e": ["?"]}
    decisions = ({"id": key, "term": term, "kb_id": "C3", "relation": relations.get(key)} for key, term in TERMS)
    write_jsonl(tmp_path / "reviewed.jsonl", decisions)
    made = {}
    for to, name in (("csv", "out.csv"), ("sssom", "out.sssom.tsv"), ("usagi", "usagi.csv")):
        path, reviewed = tmp_path / name, tmp_path / "reviewed.jsonl"
        done("map", folder / "pipeline", terms, path, "--reviewed", reviewed, "--format", to)
        made[to] = read(path)
    assert [row["relation"] for row in made["csv"]] == ["close", "exact", "broader", "exact", "exact"]
    skos = ["closeMatch", "exactMatch", "broadMatch", "exactMatch", "exactMatch"]
    assert [row["predicate_id"] for row in made["sssom"]] == [f"skos:{one}" for one in skos]
    assert [row["equivalence"] for row in made["usagi"]] == ["INEXACT", "EQUAL", "WIDER", "EQUAL", "EQUAL"]


def test_lines_always_and_columns(folder, terms, tmp_path):
    (tmp_path / "terms.txt").write_text("zebra fish\nfever\n")
    column = "--term-column", "term"
    assert "with --term-column" in refused(
        "E639", "map", folder / "pipeline", tmp_path / "terms.txt", tmp_path / "x.csv", *column
    )
    done("map", folder / "pipeline", tmp_path / "terms.txt", tmp_path / "out.csv", "--always")
    first, second = read(tmp_path / "out.csv")
    assert first["id"].startswith("C") and first["row"] == "1" and second["id"] == "C5"
    columns = ["--type-column", "kind", "--context-column", "note", "--n-process", 2]
    done("map", folder / "pipeline", terms, tmp_path / "out.csv", "--overwrite", *columns)
    assert [row["id"] for row in read(tmp_path / "out.csv")] == IDS
    refused("E641", "map", folder / "pipeline", terms, tmp_path / "new.csv", "--type-column", "kinds")
    refused("E537", "map", folder / "pipeline", terms, tmp_path / "new.csv", "--type-column", "note")
    refused("E642", "map", folder / "pipeline", terms, tmp_path / "new.xlsx")
    refused("E657", "map", folder / "pipeline", terms, tmp_path / "out.csv")
    assert "--term-column" in refused("E641", "map", folder / "pipeline", folder / "kb.jsonl", tmp_path / "x.csv")


def test_map_is_resumed(folder, terms, tmp_path, monkeypatch):
    from spacy_pel.engines import output

    done("map", folder / "pipeline", terms, tmp_path / "whole.csv")
    with monkeypatch.context() as patched:  # the disk is full as the output is written
        patched.setitem(output._FORMATS, "csv", output._FORMATS["csv"])
        patched.setattr(output, "write_terms", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        run("map", folder / "pipeline", terms, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists() and list((tmp_path / "out.csv.parts").glob("part-*"))
    refused("E643", "map", folder / "pipeline", terms, tmp_path / "out.csv")
    refused("E644", "map", folder / "pipeline", terms, tmp_path / "out.csv", "--resume", "--always")
    assert "Nothing to do" in done("map", folder / "pipeline", terms, tmp_path / "out.csv", "--resume").err
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_knowledge_base_is_enough(folder, terms, tmp_path, monkeypatch):
    from spacy_pel.cli import quickstart

    monkeypatch.setattr(quickstart, "default_pipeline", lambda option: folder / "pipeline")
    assert "quickstart" in done("map", folder / "kb", terms, tmp_path / "out.csv").err
    assert [row["id"] for row in read(tmp_path / "out.csv")][2:] == IDS[2:]
    assert sorted(path.name for path in tmp_path.iterdir() if "out" in path.name) == ["out.csv", "out.csv.done.json"]


def test_check(folder, tmp_path):
    shutil.copytree(folder / "pipeline", tmp_path / "pipeline")
    pairs = [
        ("stroke", "C3", "stroke", "agrees"),
        ("stroke", "MESH:D000003", "", "agrees"),
        ("stroke", "C5|C3", "", "agrees"),
        ("stroke", "C5", "", "other"),
        ("severe asthma", "C6", "", "broader"),
        ("fever", "C5", "asthma", "label"),
        ("fever", "X9", "", "unknown"),
        ("zebra fish", "C4", "", "unclear"),
    ]
    rows = [f"{text}\t{key}\t{label}\t{verdict}" for text, key, label, verdict in pairs]
    (tmp_path / "in.tsv").write_text("\n".join(["text\tid\tlabel\texpected", *rows, "left out\t\t\t", ""]))
    result = done("check", tmp_path / "pipeline", tmp_path / "in.tsv", tmp_path / "out.jsonl", "--json").json
    found = {(row["text"], row["id"], row["verdict"]) for row in result["checked"]}
    assert found == {(text, key, verdict) for text, key, _, verdict in pairs}
    assert result["pairs"] == 8 and result["verdicts"]["agrees"] == 3
    order = [(row["verdict"] in ("agrees", "unclear"), row["probability"]) for row in result["checked"]]
    assert order == sorted(order), "the most doubtful first"
    other = next(row for row in result["checked"] if row["verdict"] == "other")
    assert (other["better"], other["better_name"]) == ("C3", "stroke")
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == result["checked"]

    strict = run("check", tmp_path / "pipeline", tmp_path / "in.tsv", "--strict")
    assert strict.code == 1 and "4 of 8 pairs disagree" in strict.err and "other" in strict.out
    (tmp_path / "right.csv").write_text("text,id\nstroke,C3\n")
    assert run("check", tmp_path / "pipeline", tmp_path / "right.csv", "--strict").code == 0


def test_check_reads_sssom_and_corpora(folder, terms, tmp_path):
    done("map", folder / "pipeline", terms, tmp_path / "out.sssom.tsv")
    result = done("check", folder / "pipeline", tmp_path / "out.sssom.tsv", "--json").json
    assert result["verdicts"] == {"agrees": 3, "broader": 1}, "what is NIL is left out"
    rows = [{"text": "stroke", "id": ["C5", "C3"]}, {"text": "fever", "id": None}]
    write_jsonl(tmp_path / "lists.jsonl", rows)
    checked = done("check", folder / "pipeline", tmp_path / "lists.jsonl", "--json").json["checked"]
    assert [(row["id"], row["verdict"]) for row in checked] == [("C5|C3", "agrees")]
    mentions = [Mention(7, 13, "ENTITY", ("C3",)), Mention(18, 23, "ENTITY", ("C3", "C5")), Mention(0, 2, "ENTITY")]
    write_corpus(tmp_path / "gold.jsonl", [Document("d", "We saw stroke and fever.", mentions)])
    result = done("check", folder / "pipeline", tmp_path / "gold.jsonl", "--json").json
    assert {(row["text"], row["id"]) for row in result["checked"]} == {("stroke", "C3"), ("fever", "C3|C5")}
    assert result["verdicts"] == {"agrees": 2}
    for option in ("--term-column", "--id-column"):
        refusal = refused("E639", "check", folder / "pipeline", tmp_path / "gold.jsonl", option, "text")
        assert f"with {option}" in refusal
    without = {"id": "C3", "text": "We saw a stroke.", "mentions": None}  # "id" is the document's
    write_jsonl(tmp_path / "gold.jsonl", [without, *list(read_jsonl(tmp_path / "gold.jsonl"))])
    assert done("check", folder / "pipeline", tmp_path / "gold.jsonl", "--json").json == result


def test_check_reads_each_mention_at_its_place_and_a_document_once(folder, tmp_path, monkeypatch):
    text = "CF means cystic fever (CF). In some texts, CF is a stroke."
    first, last = text.index("(CF)") + 1, text.rindex("CF")
    mentions = [Mention(start, start + 2, "ENTITY", ("C3",)) for start in (first, last)]
    write_corpus(tmp_path / "gold.jsonl", [Document("d", text, [*mentions, Mention(0, 2, "ENTITY")])])
    asked = []
    maker = terms_of_engines.query_maker

    def recorded(*args, **kwargs):
        ask = maker(*args, **kwargs)
        return lambda document, **how: asked.append((document, how)) or ask(document, **how)

    monkeypatch.setattr(terms_of_engines, "query_maker", recorded)
    result = done("check", folder / "pipeline", tmp_path / "gold.jsonl", "--json").json
    assert result["pairs"] == 2
    [(document, how)] = asked
    assert [one.start for one in document.mentions] == [first, last] and how == {"alone": False}


def test_check_refuses_what_has_no_pairs(folder, tmp_path):
    (tmp_path / "in.csv").write_text("text,code\nstroke,C3\n")
    assert "--id-column" in refused("E641", "check", folder / "pipeline", tmp_path / "in.csv")
    done("check", folder / "pipeline", tmp_path / "in.csv", "--id-column", "code")
    (tmp_path / "in.csv").write_text("text,id\n")
    refused("E670", "check", folder / "pipeline", tmp_path / "in.csv")
    refused("E642", "check", folder / "pipeline", tmp_path / "in.csv", tmp_path / "out.xlsx")
    (tmp_path / "in.docs").write_text("stroke")
    assert "--format" not in refused("E640", "check", folder / "pipeline", tmp_path / "in.docs")
    refused("E649", "check", folder / "pipeline", tmp_path / "in.csv", tmp_path / "in.csv")
    assert (tmp_path / "in.csv").read_text() == "text,id\n"
    write_jsonl(tmp_path / "in.jsonl", [{"id": "C3"}])
    refused("E641", "check", folder / "pipeline", tmp_path / "in.jsonl")


def test_a_term_that_utf8_cannot_hold(folder, tmp_path):
    """It would be written into the answers."""
    (tmp_path / "terms.jsonl").write_text('{"id": "C5", "text": "fever"}\n{"id": "C3", "text": "stroke \\ud800"}\n')
    mapped = refused("E002", "map", folder / "pipeline", tmp_path / "terms.jsonl", tmp_path / "out.csv")
    assert "term C3" in mapped and not (tmp_path / "out.csv").exists()
    assert "document 2" in refused("E002", "check", folder / "pipeline", tmp_path / "terms.jsonl")

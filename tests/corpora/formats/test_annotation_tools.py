"""What tools write that know no entity ids: doccano, Prodigy, spaCy, and CoNLL's columns."""

import json

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_pel.cli._settings import make_reader
from spacy_pel.errors import PelError

TEXT = "EGFR L858R in asthma."
SPAN = {"start": 14, "end": 20, "label": "D"}
VALUE = {"start": 14, "end": 20, "text": "asthma", "labels": ["D"]}  # of Label Studio
LABELLED = {"result": [{"value": VALUE, "type": "labels"}, {"type": "relation", "from_id": "a"}]}


def read(path, name, **settings):
    [document] = make_reader("pel_corpus_readers", name, settings)([path])
    return [(document.text[one.start : one.end], one.label, *one.ids) for one in document.mentions]


@pytest.mark.parametrize(
    ("record", "found"),
    [
        ({"id": 1, "text": TEXT, "label": [[14, 20, "Disease"]]}, [("asthma", "Disease")]),
        ({"id": 1, "data": TEXT, "label": [[14, 20, "Disease"]], "Comments": []}, [("asthma", "Disease")]),
        ({"text": TEXT, "labels": [[0, 4, "G"], [14, 20, "D"]]}, [("EGFR", "G"), ("asthma", "D")]),
        ({"text": TEXT, "entities": [{"id": 7, "start_offset": 14, "end_offset": 20}]}, [("asthma", "")]),
        ({"text": TEXT, "entities": [[14, 20, "D", "D001249"]]}, [("asthma", "D", "D001249")]),
        ({"text": TEXT, "annotations": [{"start_offset": 0, "end_offset": 4, "user": 1}]}, [("EGFR", "")]),
        ({"text": TEXT, "spans": [{**SPAN, "token_start": 3}], "tokens": [{}]}, [("asthma", "D")]),
        ({"text": TEXT, "spans": [{**SPAN, "kb_id": "D001249"}]}, [("asthma", "D", "D001249")]),
        ({"text": TEXT, "spans": [{**SPAN, "kb_id": "NIL"}]}, [("asthma", "D")]),
        ({"text": TEXT, "label": [{"start": 14, "end": 20, "labels": ["D", "F"]}]}, [("asthma", "D|F")]),
        ({"text": TEXT, "spans": [SPAN, {"start": 0, "end": 9, "label": None}]}, [("asthma", "D"), ("EGFR L858", "")]),
        ({"text": TEXT, "ents": [{"id": "T1", "start_char": 0, "end_char": 4, "label": "G"}]}, [("EGFR", "G")]),
        ({"text": TEXT, "annotation": {"entities": [[14, 20, "D"]]}, "tags": ["a"]}, [("asthma", "D")]),
        ({"data": {"t": TEXT, "n": 1}, "annotations": [{"was_cancelled": True}, LABELLED]}, [("asthma", "D")]),
        ({"content": TEXT, "entities": [{"offset": 14, "length": 6, "category": "D"}]}, [("asthma", "D")]),
        ({"text": TEXT, "entities": [{"begin": 14, "end": 20, "entity_group": "D"}]}, [("asthma", "D")]),
        ({"text": TEXT, "entities": [{"span": [14, 20], "type": "D"}]}, [("asthma", "D")]),
        ({"text": TEXT, "entities": [{"offsets": [[14, 20]], "label": 7}]}, [("asthma", "7")]),
        ({"text": TEXT, "spans": [SPAN], "options": [{"id": "Q1"}], "accept": ["Q1"]}, [("asthma", "D", "Q1")]),
        ({"text": TEXT, "spans": [SPAN], "options": [], "accept": ["NIL_other"]}, [("asthma", "D")]),
        ({"text": TEXT, "mentions": [], "label": ["positive"], "split": "train"}, []),
        ({"text": TEXT, "spans": [], "tokens": [{"id": 0}], "answer": "accept"}, []),
        ({"text": TEXT, "meta": {"authors": [{"name": "A"}]}}, []),
    ],
)
def test_json_lines_of_tools(tmp_path, record, found):
    (tmp_path / "tool.jsonl").write_text(json.dumps(record) + "\n" + json.dumps({**record, "answer": "reject"}))
    assert read(tmp_path / "tool.jsonl", "jsonl") == found


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"denotations": [{"span": {"begin": 0, "end": 4}, "obj": "G"}]}, "E203.*line 1.*under 'denotations'"),
        ({"markup": {"entities": [[0, 4, "G"]]}, "tags": ["a"]}, "E203.*under 'markup', which"),
        ({"spans": {"sc": [{"start": 0, "end": 4}]}}, "E202.*the spans {'sc'"),
        ({"label": ["positive"]}, "E202.*the mention 'positive'"),
        ({"label": "positive"}, "E202.*the label 'positive'"),
        ({"label": [[0, 99, "G"]]}, "E201.*a mention at characters 0 to 99, got no text.*--set strict=false"),
        ({"label": [{"start": 0, "end": 4, "labels": [1]}]}, "E202.*the mention"),
        ({"answer": "reject"}, "E206.*got none but 1 that were rejected"),
        ({"spans": [{"start": -1, "end": 4}]}, "E201.*characters -1 to 4, got no text"),
        ({"text": None}, "E202.*the keys"),
        ({"label": [[0, 4, "G", "1956", 5]]}, "E202.*the mention"),
        ({"mentions": [{"begin": 0, "stop": 4}]}, "E202.*the mention {'begin'"),
        ({"mentions": [{"start": 0, "end": 4, "cui": "C0034802"}]}, "E203.*under ids, kb_id, got an id under 'cui'"),
        ({"spans": [{"start": 0, "end": 4, "codes": ["MESH:D1"]}]}, "E203.*an id under 'codes'"),
        ({"entities": [{"id": "T1", "type": "G", "offsets": [[0, 4]], "text": ["EGFR"]}]}, "E202.*'offsets'"),
    ],
)
def test_annotation_that_is_not_read(tmp_path, record, said):
    (tmp_path / "tool.jsonl").write_text(json.dumps({"id": "1", "text": TEXT, **record}))
    with pytest.raises(PelError, match=said):
        read(tmp_path / "tool.jsonl", "jsonl")


def test_annotation_that_other_readers_do_not_read(tmp_path):
    passage = {"offset": 0, "text": TEXT, "entities": [{"start": 0}]}
    (tmp_path / "a.json").write_text(json.dumps({"documents": [{"id": "1", "passages": [passage]}]}))
    (tmp_path / "a.xml").write_text(
        f"<c><document><id>1</id><passage><text>{TEXT}</text><mention>EGFR</mention></passage></document></c>"
    )
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "a.ann").write_text("e1\tGene 0 4\tEGFR\n")
    doc = spacy.blank("en")(TEXT)
    doc.spans["sc"] = [doc[0:1]]
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "a.spacy")
    kinds = {"json": "bioc", "xml": "bioc", "ann": "brat", "spacy": "docbin"}
    said = ("under 'entities' \\(1\\)", "under 'mention'", "lines such as 'e1'", "spans_key=sc")
    for (ending, name), what in zip(kinds.items(), said, strict=True):
        with pytest.raises(PelError, match=f"E217.*{what}"):
            read(tmp_path / f"a.{ending}", name)


IOB2 = "Breast\tB-D\ncancer\tI-D\nand\tO\nrash\tB-D\nfever\tB-D\n"
FOUND = [("Breast cancer", "D"), ("rash", "D"), ("fever", "D")]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (IOB2, FOUND),
        (IOB2.replace("\t", " "), FOUND),
        (IOB2.replace("\n", "\r\n"), FOUND),
        ("Breast\tI-D\ncancer\tI-D\nand\tO\nrash\tI-D\nfever\tB-D\n", FOUND),  # IOB
        ("Breast\tB-D\ncancer\tE-D\nand\tO\nrash\tS-D\nfever\tS-D\n", FOUND),  # BIOES
        ("Breast\tB-D\ncancer\tL-D\nand\tO\nrash\tU-D\nfever\tU-D\n", FOUND),  # BILOU
        ("Breast B\ncancer I\nand O\nrash B\nfever B\n", [(text, "") for text, _ in FOUND]),
        ("Breast NN B-NP B-D\ncancer NN I-NP I-D\n", [("Breast cancer", "D")]),
        ("rash\tB-D\tMESH:D1\nfever\tI-G\tD2|D3\n", [("rash", "D", "MESH:D1"), ("fever", "G", "D2", "D3")]),
        ("rash\tB-D\tO\nfever\tB-D\t_\nand\tO\tO\n", [("rash", "D"), ("fever", "D")]),
        ("###MEDLINE:95\n\nrash\tB-D\n\nfever\tI-D\n", [("rash", "D"), ("fever", "D")]),
        ("# newdoc id = 3\n# text = rash #\nrash\tB-D\n#\tO\n", [("rash", "D")]),
        ("-DOCSTART- -X- O O\n\nrash NN B-NP B-D\n", [("rash", "D")]),
    ],
)
def test_conll(tmp_path, content, found):
    (tmp_path / "x.tsv").write_text(content)
    assert read(tmp_path / "x.tsv", "conll") == found


def test_documents_and_columns_of_conll(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("rash\tB-D\tx\tD1\n\n.\tO\tx\t-\n")
    reader = make_reader("pel_corpus_readers", "conll", {"id_column": 3})
    assert [(one.id, one.text, len(one.mentions)) for one in reader([path])] == [("x-1", "rash", 1), ("x-2", ".", 0)]
    path.write_text("B-D rash D1\nO .\n")
    [document] = make_reader("pel_corpus_readers", "conll", {"tag_column": 0})([path])
    assert (document.text, document.mentions[0].ids) == ("rash .", ("D1",))
    path.write_text("a\tO\n-DOCSTART- (7)\n\nrash\tB-D\n\nhives\tI-D\n###8\nb\tO\n")
    documents = make_reader("pel_corpus_readers", "conll", {"label": "X"})([path])
    found = [(one.id, one.text, len(one.mentions)) for one in documents]
    assert found == [("x-1", "a", 0), ("7", "rash hives", 2), ("8", "b", 0)]
    for content, said in [("a\tb\nc\td\n", "line 1.*'a.tb'"), ("a\tO\nb\n", "line 2.*'b'"), ("a\tX\n", "X'")]:
        path.write_text(content)
        with pytest.raises(PelError, match=f"E207.*{said}"):
            read(path, "conll")

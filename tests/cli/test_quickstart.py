"""``quickstart``: a table of codes becomes a pipeline."""

import re
import shutil
from pathlib import Path

import pytest
import spacy

from spacy_pel.corpora import write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.types import NIL, Document, Entity, Mention

from .conftest import done, refused, run

pytestmark = pytest.mark.slow

TABLE = """code,name,synonyms,type
E11,Type 2 diabetes mellitus,T2DM|NIDDM|adult-onset diabetes,disease
I21,Myocardial infarction,heart attack|MI,disease
R50,Fever,pyrexia,finding
T69,Exposure to cold,cold,finding
J00,Common cold,cold,disease
X1,5,AS|b,finding
"""
LINKED = {"PYREXIA": "R50", "Heart attack": "I21", "MI": "I21", "t2dm": None, "as": None, "AS": "X1"}
TEXT = "Mi amigo: {}, b 5."


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text(TABLE)
    return path


def quickstart(folder, table, out, *options):
    return run("quickstart", table, out, "--encoder", folder / "model", *options)


def links(nlp, text):
    return {ent.text: ent.kb_id_ for ent in nlp(text).ents}


def test_a_table_becomes_a_pipeline(folder, table, tmp_path):
    result = quickstart(folder, table, tmp_path / "out")
    assert result.code == 0, result.err
    shown = ["Type 2 diabetes mellitus", "Fever", "Common cold"]
    assert "This is about Type 2 diabetes mellitus, Fever and Common cold." in result.out
    for name, kb_id in zip(shown, ["E11", "R50", "J00"], strict=True):
        assert re.search(rf"^{name} +ENTITY +{kb_id} +{name} +0[.][3-7]", result.out, re.MULTILINE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["codes.csv", "out"]

    nlp = spacy.load(tmp_path / "out")
    text = TEXT.format(", ".join(LINKED))
    expected = {name: kb_id for name, kb_id in LINKED.items() if kb_id}
    assert links(nlp, text) == expected
    assert links(nlp.from_bytes(nlp.to_bytes()), text) == expected
    for doc in nlp.pipe([text] * 3, n_process=2):
        assert {ent.text: ent.kb_id_ for ent in doc.ents} == expected


def test_an_abbreviation_that_the_text_defines_as_something_else_is_not_linked(table, tmp_path):
    default = Path(__file__).parents[2] / "assets" / "pel_medmentions"
    assert run("quickstart", table, tmp_path / "out", "--encoder", default).code == 0
    nlp = spacy.load(tmp_path / "out")
    assert links(nlp, "Motivational interviewing (MI) was used. MI was brief.") == {"MI": NIL}
    assert links(nlp, "Heart attack, MI, fevers.") == {"Heart attack": "I21", "MI": "I21", "fevers": "R50"}


def test_the_printed_python_runs(folder, table, tmp_path, capsys):
    result = quickstart(folder, table, tmp_path / "it's", "--json").json
    assert result["entities"] == 6 and len(result["mentions"]) == 3
    exec(result["python"], {})
    assert capsys.readouterr().out.startswith("Type 2 diabetes mellitus E11 Type 2 diabetes mellitus 0.")


def test_other_sources(folder, tmp_path):
    def ids(source, *options):
        result = quickstart(folder, source, tmp_path / "out", "--overwrite", *options)
        assert result.code == 0, result.err
        kb = spacy.load(tmp_path / "out").get_pipe("proxy_entity_linker").kb
        return [entity.concept_id for entity in kb.entities()]

    obo = tmp_path / "terms.obo"
    obo.write_text("[Term]\nid: X:1\nname: fever\n\n[Term]\nid: X:2\nname: cough\n")
    assert ids(obo) == ["X:1", "X:2"]
    KnowledgeBase.build([Entity("K1", "rash"), Entity("K2", "hives", parents=("K1",))], tmp_path / "kb")
    assert ids(tmp_path / "kb") == ["K1", "K2"] and ids(tmp_path / "kb", "--below", "K2") == ["K2"]
    table = tmp_path / "tree.csv"
    table.write_text("id,name,parents\nA,rash,\nB,hives,A\nC,fever,\n")
    assert ids(table, "--below", "A") == ["A", "B"]
    lines = tmp_path / "codes"
    lines.write_text("id,name,synonyms\nA,rash,hives; wheals\n")
    assert ids(lines, "--reader", "csv", "--set", "list_separator=;") == ["A"]
    assert links(spacy.load(tmp_path / "out"), "wheals") == {"wheals": "A"}


def test_with_a_detector(folder, table, tmp_path):
    """The other components of the detector are kept as they are, but for linkers."""
    nlp = spacy.load(folder / "ruler")
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "DISEASE", "pattern": "heart attacks"}])
    nlp.add_pipe("proxy_entity_linker", source=spacy.load(folder / "pipeline"))
    nlp.to_disk(tmp_path / "ner")
    text = "Fever, heart attacks and pyrexia."
    assert quickstart(folder, table, tmp_path / "a", "--ner", tmp_path / "ner").code == 0
    found = spacy.load(tmp_path / "a")
    detector = "pel_abbreviation_detector"
    assert found.pipe_names == ["entity_ruler", detector, "proxy_entity_linker"]
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in found(text).ents] == [("heart attacks", "DISEASE", "I21")]
    assert quickstart(folder, table, tmp_path / "b", "--ner", tmp_path / "ner", "--phrases").code == 0
    both = spacy.load(tmp_path / "b")
    assert both.pipe_names == ["entity_ruler", "name_finder", detector, "proxy_entity_linker"]
    assert links(both, text) == {"Fever": "R50", "heart attacks": "I21", "pyrexia": "R50"}
    # the longer mention counts, whichever component found it
    both.get_pipe("entity_ruler").add_patterns([{"label": "DISEASE", "pattern": "high fever"}])
    mentions = [(ent.text, ent.label_) for ent in both("A high fever, heart attack").ents]
    assert mentions == [("high fever", "DISEASE"), ("heart attack", "ENTITY")]


def test_an_existing_folder_is_not_replaced(folder, table, tmp_path):
    out = tmp_path / "out"
    assert quickstart(folder, table, out).code == 0
    before = (out / "meta.json").stat().st_mtime_ns
    failed = quickstart(folder, table, out)
    assert failed.code == 2 and "E658" in failed.err and "--overwrite" in failed.err
    assert (out / "meta.json").stat().st_mtime_ns == before
    table.write_text("id,name\nA,rash\n")
    assert quickstart(folder, table, out, "--overwrite").code == 0
    assert links(spacy.load(out), "Rash, fever") == {"Rash": "A"}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file.txt").write_text("keep me")
    for name in ("mine", "mine/file.txt"):
        failed = quickstart(folder, table, tmp_path / name, "--overwrite")
        assert "E658" in failed.err and "no pipeline" in failed.err
    assert (tmp_path / "mine" / "file.txt").read_text() == "keep me"


@pytest.mark.parametrize(
    "text, options, error",
    [
        ("id,name,synonyms\nA,rash,hives\nB\n", [], "E002.*line 3"),
        ("id,name\nA,rash\n", ["--ner", "no_pipeline"], "E002.*no_pipeline"),
        ("id,name\nA,rash\n", ["--encoder", "no_model"], "E007.*no_model"),
    ],
)
def test_nothing_is_left_after_an_error(folder, tmp_path, text, options, error):
    table = tmp_path / "codes.csv"
    table.write_text(text)
    result = quickstart(folder, table, tmp_path / "out", *options)
    assert result.code == 2 and result.out == "" and re.search(error, result.err), result.err
    assert [path.name for path in tmp_path.iterdir()] == ["codes.csv"]


def test_files_of_unknown_type(folder, tmp_path):
    assert "E002" in quickstart(folder, tmp_path / "none.csv", tmp_path / "out").err
    (tmp_path / "codes.xlsx").write_bytes(b"PK")
    for source in (tmp_path / "codes.xlsx", tmp_path):
        failed = quickstart(folder, source, tmp_path / "out")
        assert failed.code == 2 and "E659" in failed.err and str(source) in failed.err


def test_the_default_pipeline(table, tmp_path, monkeypatch):
    """Its encoder and its detector; the calibration is of another knowledge base."""
    shutil.move(table, tmp_path / "my codes.csv")
    monkeypatch.chdir(tmp_path)
    default = Path(__file__).parents[2] / "assets" / "pel_medmentions"
    monkeypatch.setattr("spacy_pel.cli._saved_pipeline._DEFAULT", Path("elsewhere"))
    assert "--encoder" in refused("E666", "quickstart", "my codes.csv", "out")
    done("quickstart", "my codes.csv", "out", "--ner", default)  # with its encoder
    nlp = spacy.load(tmp_path / "out")
    found = links(nlp, "Heart attack was frequent. The students received tobramycin.")
    assert found == {"Heart attack": "I21", "students": NIL, "tobramycin": NIL}
    linker = nlp.get_pipe("proxy_entity_linker").linker
    assert linker.decider.nil_model.is_probability
    assert linker.nil_threshold is linker.decider.calibrated_threshold is None
    close, expected = MentionQuery("heart block attack", 0, 18), linker.decider.expected_nil_share
    told = linker.link([close])[0].nil_score
    linker.decider.expected_nil_share = None
    assert expected == 0.75 and told > linker.link([close])[0].nil_score, "a small table lacks most mentions"
    write_corpus(
        Path("few.jsonl"),
        [
            Document(str(i), "A heart attack.", [Mention(2, 14, "X", ids)])
            for i, ids in enumerate([("I21",), ("Z",)] * 8)
        ],
    )
    done("calibrate", "out", "few.jsonl")
    assert spacy.load("out").get_pipe("proxy_entity_linker").linker.decider.expected_nil_share is None

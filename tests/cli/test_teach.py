"""The commands ``teach`` and ``explain``."""

import json
import re

import pytest
import spacy

from spacy_pel.cli.teach import read_corrections
from spacy_pel.errors import PelError
from spacy_pel.pipeline import saved
from spacy_pel.types import NIL
from spacy_pel.util import write_jsonl
from spacy_pel.util.saved_folder import verify_folders

from .conftest import done, refused, run

pytestmark = pytest.mark.slow

TEXT = "We studied aspirin in zebra fish."
LINKER = "proxy_entity_linker"


def line(name, kb_id, text=TEXT, **more):
    start = text.index(name)
    return {"text": text, "start": start, "end": start + len(name), "kb_id": kb_id, **more}


CORRECTIONS = [line("aspirin", NIL, id="d1", label="ENTITY"), line("zebra fish", "C7", mention="zebra fish")]


@pytest.fixture
def pipeline(pipeline, tmp_path):
    write_jsonl(tmp_path / "fixes.jsonl", CORRECTIONS)
    return pipeline


def ids(pipeline):
    return {ent.text: ent.kb_id_ for ent in spacy.load(pipeline)(TEXT).ents}


def test_teach_list_and_undo(pipeline, tmp_path):
    before = ids(pipeline)
    result = done("teach", pipeline, tmp_path / "fixes.jsonl", "--by", "Ann", "--json")
    assert result.json.items() >= dict(corrections=2, learned=2, nil=1, changed=2, ids="1-2", in_effect=2).items()
    assert ids(pipeline) == {"aspirin": NIL, "zebra fish": "C7"} != before
    verify_folders(pipeline)

    again = run("teach", pipeline, tmp_path / "fixes.jsonl", "--json")
    assert again.json["learned"] == 0 and "already known" in again.err
    first, second = run("teach", pipeline, "--list", "--json").json["learned"]
    assert (first["doc"], first["by"], first["text"], first["after"]) == ("d1", "Ann", "aspirin", NIL)
    assert (second["before"], second["after"]) == (before["zebra fish"], "C7")
    assert "zebra fish" in run("teach", pipeline, "--list").out

    result = run("teach", pipeline, "--undo", 1, "--by", "Bob", "--json")
    assert (result.code, result.json["undone"], result.json["in_effect"]) == (0, 1, 1)
    assert ids(pipeline) == {**before, "zebra fish": "C7"}
    assert run("teach", pipeline, "--undo", 2).code == 0
    assert ids(pipeline) == before
    assert run("teach", pipeline, "--list").out == "Nothing has been learned.\n"
    log = (pipeline / LINKER / "memory" / "log.jsonl").read_text().splitlines()
    assert [json.loads(one)["action"] for one in log] == ["learn", "learn", "undo", "undo"]
    verify_folders(pipeline)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", f"text,start,end,kb_id\n{TEXT},22,32,C7\n"),
        ("x.csv", f"Text,Start,End,ID,by\n{TEXT},22,32,C7,Ann\n"),
        ("x.csv", f"text;start;end;id\n{TEXT};22;32;C7\n"),
        ("x.tsv", f"text\tstart\tend\tid\n{TEXT}\t22\t32\tC7\n"),
        ("x.csv", f"text,mention,id\n{TEXT},zebra fish,C7\n"),
        ("x.csv", f"mention,text,kb_id,id,label\nzebra fish,{TEXT},C7,note 7,ENTITY\n"),
        ("x.csv", f"text,mention,start,end,id\n{TEXT},zebra fish,22,32,C7\n"),
        ("x.csv", f"text,mention,start,end,id\n{TEXT},zebra fish,,,C7\n"),
        ("x.csv", f"\ufefftext,mention,id\r\n{TEXT},zebra fish,C7\r\n"),
        ("x.jsonl", json.dumps({"text": TEXT, "mention": "zebra fish", "kb_id": "C7"})),
    ],
)
def test_tables_of_corrections(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    [correction] = read_corrections(tmp_path / name)
    assert (correction.surface, correction.kb_id, correction.start) == ("zebra fish", "C7", 22)


@pytest.mark.parametrize(
    ("name", "content", "always"),
    [
        ("x.csv", "term,id\n zebra fish , C7 \n", False),
        ("x.csv", "ID;Term;Always\nC7;zebra fish;yes\n", True),
        ("x.tsv", "term\tid\talways\nzebra fish\tC7\t\n", False),
        ("x.jsonl", json.dumps({"term": "zebra fish", "kb_id": "C7", "always": True}), True),
        ("x.csv", f"text,mention,id,always\n{TEXT},zebra fish,C7,TRUE\n", True),
    ],
)
def test_terms_and_always(tmp_path, name, content, always):
    (tmp_path / name).write_text(content)
    [correction] = read_corrections(tmp_path / name)
    assert (correction.surface, correction.kb_id, correction.always) == ("zebra fish", "C7", always)
    [correction] = read_corrections(tmp_path / name, always=True)
    assert correction.always
    (tmp_path / name).write_text(content.replace("yes", "no").replace("TRUE", "0").replace("true", "false"))
    says_so = always and "always" in content.lower()
    assert read_corrections(tmp_path / name, always=True)[0].always != says_so, "what a line says counts"


def test_a_house_list(pipeline, tmp_path):
    """Annotated text means C0 by "aspirin"."""
    other = "We studied Aspirin in mice."
    assert {ent.text: ent.kb_id_ for ent in spacy.load(pipeline)(other.lower()).ents} == {"aspirin": "C0"}
    (tmp_path / "list.csv").write_text("term,id\naspirin,C7\nzebra fish,C6\n")
    result = done("teach", pipeline, tmp_path / "list.csv", "--json")
    assert result.json.items() >= dict(learned=2, changed=2, here_only=1).items()
    expected = r"W552\] aspirin: annotated text names aspirin \(C0\) (\d) times, .* Use --always"
    (count,) = re.findall(expected, " ".join(result.err.split()))
    assert result.err.count("W552") == 1 and "W510" not in result.err
    assert ids(pipeline) == {"aspirin": "C0", "zebra fish": "C6"}
    listed = run("teach", pipeline, "--list", "--json").json["learned"]
    reach = [(one["decides"], one["rival"], one["n_rival"]) for one in listed]
    assert reach == [("here", "C0", int(count)), ("elsewhere", None, 0)]

    result = done("teach", pipeline, tmp_path / "list.csv", "--always", "--json")
    assert result.json.items() >= dict(learned=2, here_only=0, in_effect=2, ids="3-4").items()
    assert "W551" not in result.err and "W552" not in result.err
    assert ids(pipeline) == {"aspirin": "C7", "zebra fish": "C6"}
    rows = [line.split() for line in run("teach", pipeline, "--list").out.splitlines()]
    assert rows[0][-5:] == ["decides", "agreeing", "rival", "n_rival", "context"]
    assert rows[1][-7:] == [*"always 1 of 1 C0".split(), count, "aspirin"]
    (tmp_path / "one.csv").write_text(f"text,mention,id\n{TEXT},zebra fish,C5\n")
    err = done("teach", pipeline, tmp_path / "one.csv").err
    assert "zebra fish: another correction of it decides always, so this correction decides in its own text only" in err
    done("teach", pipeline, "--undo", 3, "--undo", 5)
    assert ids(pipeline) == {"aspirin": "C0", "zebra fish": "C6"}
    done("verify", pipeline)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"text,mention,id\n{TEXT},zebras,C7\n", "E672.*line 2.*'zebras' 0 times in the text"),
        ("text,mention,id\nrash and rash,rash,C7\n", "E672.*'rash' 2 times in the text and no offsets"),
        (f"text,start,end\n{TEXT},22,32\n", "E672.*line 2.*'kb_id'"),
        ("term,id,always\nzebras,C7,often\n", "E672.*line 2.*'always'"),
        ("term,id\n,C7\n", "E672.*line 2.*'text'"),
        (f"text,start,end,id\n{TEXT},x,32,C7\n", "E672.*line 2.*'start'"),
        (f"body,start,end,id\n{TEXT},22,32,C7\n", "E672.*line 2.*'text'"),
    ],
)
def test_wrong_tables_of_corrections(tmp_path, content, said):
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(PelError, match=said):
        read_corrections(tmp_path / "x.csv")


def test_answers_of_the_linker_are_learned_with_a_warning(pipeline, tmp_path):
    """Each line says that it is right, but a file that `link` wrote would teach the linker its errors."""
    own = ids(pipeline)
    lines = [line(name, kb_id) for name, kb_id in own.items()]
    write_jsonl(tmp_path / "own.jsonl", [*lines[:1], line("zebra fish", "C7")])
    result = run("teach", pipeline, tmp_path / "own.jsonl", "--json")
    assert (result.json["learned"], result.json["changed"]) == (2, 1)
    assert "PEL-W551] 1 of 2 learned corrections" in result.err
    assert "W551" not in run("teach", pipeline, tmp_path / "own.jsonl").err  # nothing new
    done("link", pipeline, tmp_path / "own.jsonl", tmp_path / "links.jsonl")
    refused("E672", "teach", pipeline, tmp_path / "links.jsonl")


def test_a_mention_that_the_pipeline_does_not_find(pipeline, tmp_path):
    not_found = [line("studied", "C7"), line("zebra", NIL)]  # that the second is not linked is right
    write_jsonl(tmp_path / "fixes.jsonl", [*CORRECTIONS, *not_found])
    result = done("teach", pipeline, tmp_path / "fixes.jsonl")
    assert "PEL-W510" in result.err and "1 of 4 corrected" in result.err and "e.g. 'studied'" in result.err
    nlp = spacy.load(pipeline)
    nlp.add_pipe("pel_name_finder", first=True)
    nlp.get_pipe(LINKER).forget()
    nlp.to_disk(pipeline)
    assert "W510" not in done("teach", pipeline, tmp_path / "fixes.jsonl").err
    assert ids(pipeline)["studied"] == "C7"


@pytest.mark.parametrize(
    "given, match",
    [
        ({"text": TEXT, "start": 0}, r"E672.*line 2.*'end'"),
        (line("aspirin", "C1", mention="aspirine"), r"E672.*line 2.*'aspirine'"),
        ({**line("aspirin", "C1"), "end": 99}, r"E531.*33 characters.*line 2.*11 to 99"),
        (line("aspirin", "C99"), r"E530.*'aspirin' \(.*line 2\).*'C99'"),
    ],
)
def test_wrong_lines_change_nothing(pipeline, tmp_path, given, match):
    write_jsonl(tmp_path / "wrong.jsonl", [CORRECTIONS[0], given])
    result = run("teach", pipeline, tmp_path / "wrong.jsonl")
    error = result.err.splitlines()[-1]  # before it, the pipeline may warn that it is not calibrated
    assert result.code == 2 and error.startswith("Error: ") and re.search(match, error), result.err
    assert not (pipeline / LINKER / "memory").exists()


def test_wrong_use(pipeline, tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    for args, code in [
        ([], "E673"),
        (["--list", "--undo", 1], "E673"),
        ([tmp_path / "empty.jsonl"], "E674"),
        (["--undo", 1], "E534"),
        (["--list", "--always"], "E602"),
        (["--undo", 1, "--always"], "E602"),
        (["--list", "--by", "Ann"], "E602"),
    ]:
        refused(code, "teach", pipeline, *args)
    damaged = pipeline / LINKER / "cfg.json"
    damaged.write_text(damaged.read_text() + " ")
    refused("E004", "teach", pipeline, "--list")


@pytest.fixture
def overtake(pipeline, tmp_path, monkeypatch):
    """Between loading and saving, another process teaches: aspirin is C7."""
    write_jsonl(tmp_path / "other.jsonl", [line("aspirin", "C7")])
    load = saved.load_pipeline

    def load_and_be_overtaken(path):
        loaded = load(path)
        monkeypatch.setattr(saved, "load_pipeline", load)
        done("teach", pipeline, tmp_path / "other.jsonl")
        return loaded

    monkeypatch.setattr(saved, "load_pipeline", load_and_be_overtaken)


def test_two_at_a_time_lose_nothing(pipeline, tmp_path, overtake):
    refused("E675", "teach", pipeline, tmp_path / "fixes.jsonl")
    assert [one["after"] for one in run("teach", pipeline, "--list", "--json").json["learned"]] == ["C7"]


def test_kb_add_keeps_what_was_taught_meanwhile(pipeline, tmp_path, overtake):
    write_jsonl(tmp_path / "new.jsonl", [{"concept_id": "N1", "canonical_name": "lumbago"}])
    done("kb", "add", pipeline, tmp_path / "new.jsonl")
    assert [one["after"] for one in run("teach", pipeline, "--list", "--json").json["learned"]] == ["C7"]
    assert spacy.load(pipeline).get_pipe(LINKER).kb["N1"].canonical_name == "lumbago"
    done("verify", pipeline)


def test_explain(pipeline, tmp_path):
    run("teach", pipeline, tmp_path / "fixes.jsonl")
    result = done("explain", pipeline, TEXT)
    assert result.out.count("answer, by the surface form alone: ") == 2
    assert "decided by what was learned: 2: zebra fish = C7" in result.out and "P(NIL)" in result.out
    found = run("explain", pipeline, TEXT, "--mention", 2, "--json").json["mentions"]
    assert [one["text"] for one in found] == ["zebra fish"] and len(found[0]["candidates"]) == 5
    assert found[0]["kb_id"] == found[0]["candidates"][0]["id"] == "C7" and found[0]["learned"]["id"] == 2
    assert run("explain", pipeline, "Nothing.").out == "No mentions were found.\n"
    refused("E676", "explain", pipeline, TEXT, "--mention", 3)
    assert "TEXT" in refused("E002", "explain", pipeline, TEXT + "\udcff")  # a byte of another encoding

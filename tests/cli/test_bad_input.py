"""Bad input: exit code 2, one line that says what to do, and nothing half written."""

import gzip
import shutil

import pytest

from spacy_pel.util import read_jsonl, write_jsonl

from .conftest import run

pytestmark = pytest.mark.slow


def error(*args):
    """The one line of a command that fails."""
    result = run(*args)
    assert result.code == 2 and result.out == ""
    lines = [line for line in result.err.splitlines() if "Error" in line or "Traceback" in line]
    assert len(lines) == 1 and lines[0].startswith("Error: [PEL-E"), result.err
    return lines[0]


@pytest.fixture
def broken(folder, tmp_path):
    """A copy of the pipeline, to be broken."""
    return shutil.copytree(folder / "pipeline", tmp_path / "broken")


def evaluate(pipeline, folder, tmp_path):
    return ("evaluate", pipeline, folder / "dev.jsonl", "--output", tmp_path / "out")


def test_offsets_that_do_not_match(folder, tmp_path):
    lines = list(read_jsonl(folder / "dev.jsonl"))
    lines[3]["text"] = "Now " + lines[3]["text"]
    write_jsonl(tmp_path / "bad.jsonl", lines)
    for command in ("evaluate", "calibrate"):
        options = ("--output", tmp_path / "out") if command == "evaluate" else ()
        line = error(command, folder / "pipeline", tmp_path / "bad.jsonl", *options)
        assert "line 4 (d3)" in line and not (tmp_path / "out").exists()


def test_mention_rows_need_text(folder, tmp_path):
    args = ("index", folder / "kb", folder / "model", tmp_path / "out")
    assert "--mentions" in error(*args, "--kinds", "card,mention")
    assert "E016" in error(*args, "--kinds", "cards")
    assert "codes" in error(*args, "--codes", "int3")
    assert "E414" in error(*args, "--codes", "fp16", "--row-bytes", 8)
    assert "faissivf" in error(*args, "--index-type", "annoy")


def test_the_nearest_name_is_suggested(folder, broken, tmp_path):
    dev, kb, out = folder / "dev.jsonl", folder / "kb.jsonl", tmp_path / "out.jsonl"
    for words, meant in {
        ("convert", out, "--reader", "pubtater", dev): "'pubtator'",
        ("kb", "build", tmp_path / "kb", "--reader", "JSONL.v1", kb): "'jsonl'",
        ("link", folder / "pipeline", dev, out, "--engine", "ray", "--set", "gpu=1"): "'gpus'",
    }.items():
        assert f" (did you mean {meant}?)" in error(*words)
    assert "Perhaps" not in error("kb", "build", tmp_path / "kb", "--reader", "parquet", kb)
    config = (broken / "config.cfg").read_text()
    (broken / "config.cfg").write_text(config.replace("top_k = ", "topk = "))
    line = error("link", broken, dev, out)
    assert "E601" in line and " (did you mean 'top_k'?)" in line


@pytest.mark.parametrize(
    ("name", "data"),
    [("vocab/vectors.cfg", b"5"), ("config.cfg", b"[nlp]\n[nlp]"), ("meta.json", b"[]"), ("tokenizer", b"")],
)
def test_damaged_files_of_spacy(folder, broken, tmp_path, name, data):
    """AttributeError, DuplicateSectionError and others came through."""
    (broken / name).write_bytes(data)
    line = error(*evaluate(broken, folder, tmp_path))
    assert "broken" in line and len(line) <= 1100


def test_texts_to_link_that_cannot_be_read(folder, tmp_path):
    files = {
        "latin.txt": "Ménière".encode("latin-1"),
        "part.txt.gz": gzip.compress(b"fever\n" * 99)[:-12],
        "part.jsonl.gz": gzip.compress(b'{"text": "fever"}\n' * 99)[:-12],
        "deep.jsonl": b'{"text": ' + b"[" * 100_000,
        "odd.jsonl": b'{"text": "a", "id": "b \\ud800"}',
        "bad.parquet": b"not parquet",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        line = error("link", folder / "pipeline", tmp_path / name, tmp_path / "out.jsonl")
        assert name in line and len(line) < 1000 and not (tmp_path / "out.jsonl").exists()


def test_the_last_net(tmp_path, monkeypatch):
    """What no check foresees is one line, too, and names the file on the command line."""
    from spacy_pel.kb.readers.jsonl_kb import JsonlKB

    (tmp_path / "kb.jsonl").write_text('{"concept_id": "A", "canonical_name": "a"}\n')

    for err in (KeyError("nobody\x1b[2J foresaw it" * 1000), EOFError(), RecursionError("deep")):

        def read(self, paths, err=err):
            for _, _ in self.lines(paths[0]):
                raise err
            yield

        monkeypatch.setattr(JsonlKB, "__call__", read)
        line = error("kb", "build", tmp_path / "out", "--reader", "jsonl", tmp_path / "kb.jsonl")
        assert "E013" in line and "kb.jsonl" in line and type(err).__name__ in line
        assert len(line) <= 1100 and line.isprintable()

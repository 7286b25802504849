"""Documents that a pipeline fails on are left out and named; those that are too long are linked in pieces."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from cli.conftest import done, refused, run
from spacy.language import Language

from spacy_pel.corpora.document_stream import process_documents, text_pieces
from spacy_pel.engines import link_batch
from spacy_pel.engines.corpus import Corpus
from spacy_pel.engines.job import LinkJob, PartLinker
from spacy_pel.engines.output import PartedOutput, Report
from spacy_pel.errors import PelError
from spacy_pel.pipeline.saved import load_pipeline
from spacy_pel.types import Document
from spacy_pel.util import read_jsonl, write_jsonl

pytestmark = pytest.mark.slow

TEXTS = ["No fever.", "No BOOM asthma.", "No stroke.", "No asthma."]
FAILURES = {"value": ValueError("bad\ntext"), "memory": MemoryError(), "key": KeyError("x")}


class _Fails:
    """Fails on texts with BOOM, in a batch or alone."""

    def __init__(self, kind, as_pipe):
        self.kind = kind
        if as_pipe:
            self.pipe = self._pipe

    def __call__(self, doc):
        if "BOOM" in doc.text:
            raise FAILURES[self.kind]
        return doc

    def _pipe(self, stream, batch_size):
        for docs in spacy.util.minibatch(stream, batch_size):
            yield from [self(doc) for doc in docs]


@Language.factory("fails_on_boom", default_config={"kind": "value", "as_pipe": False})
def make_fails(nlp, name, kind, as_pipe):
    return _Fails(kind, as_pipe)


class _FailingTokenizer:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, text):
        if "BOOM" in text:
            raise OverflowError("too deep")
        return self.tokenizer(text)


@pytest.fixture
def failing(folder, tmp_path):
    """The folder of a pipeline that fails on some texts."""

    def make(**config):
        nlp = spacy.load(folder / "pipeline")
        nlp.add_pipe("fails_on_boom", first=True, config=config)
        nlp.to_disk(tmp_path / "failing")
        return tmp_path / "failing"

    return make


@pytest.mark.parametrize("kind, as_pipe, n_process", [("value", False, 2), ("memory", True, 1), ("key", True, 2)])
def test_a_document_that_fails_is_left_out_and_named(failing, tmp_path, kind, as_pipe, n_process):
    path, out = failing(kind=kind, as_pipe=as_pipe), tmp_path / "out.jsonl"
    lines = TEXTS * 3
    (tmp_path / "in.txt").write_text("\n".join(lines))
    args = ["link", path, tmp_path / "in.txt", out, "--n-process", n_process, "--batch-size", 3]
    result = done(*args, "--json", "--part-size", 1)
    assert [one["id"] for one in result.json["left_out"]] == ["2", "6", "10"] and "3 documents" in result.err
    assert all(type(FAILURES[kind]).__name__ in one["error"] for one in result.json["left_out"])
    assert result.json["documents"] == 9
    found = {one["id"]: [m["kb_id"] for m in one["mentions"]] for one in read_jsonl(out)}
    ids = {"No fever.": ["C5"], "No stroke.": ["C3"], "No asthma.": ["C6"]}
    assert found == {str(n): ids[text] for n, text in enumerate(lines, 1) if text in ids}
    assert list(read_jsonl(tmp_path / "out.jsonl.left_out.jsonl")) == result.json["left_out"]
    # nothing to do, and known
    again = run(*args, "--json", "--part-size", 1, "--resume")
    assert again.json["left_out"] == result.json["left_out"] and again.json["documents"] == 9


@pytest.mark.parametrize("n_process", [1, 2])
def test_a_text_that_utf8_cannot_hold_is_left_out_and_named(folder, tmp_path, n_process):
    texts = {"a": "No fever.", "b": "No \ud800 fever.", "c": "No stroke."}
    lines = (json.dumps({"id": key, "text": text}) for key, text in texts.items())
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    pipeline, out = folder / "pipeline", tmp_path / "out.jsonl"
    result = done("link", pipeline, tmp_path / "in.jsonl", out, "--n-process", n_process, "--json")
    (left_out,) = result.json["left_out"]
    assert left_out["id"] == "b" and "E002" in left_out["error"] and "lone surrogate after" in left_out["error"]
    assert [one["id"] for one in read_jsonl(out)] == ["a", "c"]
    estimate = done("estimate", pipeline, tmp_path / "in.jsonl", "--json").json
    assert (estimate["n_documents"], estimate["n_left_out"]) == (3, 1)


def test_resume_goes_past_a_document_that_was_left_out(failing, tmp_path, monkeypatch):
    path, out = failing(), tmp_path / "out.jsonl"
    (tmp_path / "in.txt").write_text("\n".join(TEXTS))
    args = ["link", path, tmp_path / "in.txt", out, "--part-size", 1, "--batch-size", 1]
    monkeypatch.setattr("spacy_pel.engines.local.write_links", lambda *_: 1 / 0)
    assert run(*args).code == 2
    assert len(list((tmp_path / "out.jsonl.parts").glob("part-*"))) == 4
    (tmp_path / "out.jsonl.parts" / "part-000003.jsonl").unlink()
    monkeypatch.undo()
    resumed = done(*args, "--resume", "--json")
    assert resumed.json["resumed_after"] == 3
    assert [one["id"] for one in resumed.json["left_out"]] == ["2"]
    assert [one["id"] for one in read_jsonl(out)] == ["1", "3", "4"]
    (tmp_path / "clean.txt").write_text("No fever.")
    done("link", path, tmp_path / "clean.txt", out, "--overwrite")
    assert not (tmp_path / "out.jsonl.left_out.jsonl").exists()


def test_a_pipeline_that_fails_on_all_documents_is_an_error(failing, tmp_path):
    (tmp_path / "in.txt").write_text("BOOM\nBOOM.")
    refused("E605", "link", failing(), tmp_path / "in.txt", tmp_path / "out.jsonl")
    (tmp_path / "in.txt").write_text("BOOM\n" * 300)
    args = ("link", tmp_path / "failing", tmp_path / "in.txt", tmp_path / "b.jsonl", "--part-size", 50)
    assert "first 100" in refused("E605", *args)


def test_a_tokenizer_that_fails_and_a_handler_that_skips(folder):
    nlp = load_pipeline(folder / "pipeline").nlp
    documents = [Document(str(n), text) for n, text in enumerate(TEXTS)]
    nlp.tokenizer = _FailingTokenizer(nlp.tokenizer)
    processed = list(process_documents(nlp, documents, batch_size=4))
    assert [one.error for one in processed] == ["", "OverflowError: too deep", "", ""]
    assert [one.document for one in processed] == documents
    nlp = load_pipeline(folder / "pipeline").nlp
    nlp.add_pipe("fails_on_boom", first=True)
    nlp.set_error_handler(lambda name, proc, docs, err: None)
    processed = list(process_documents(nlp, documents, batch_size=4))
    assert [bool(one.error) for one in processed] == [False, True, False, False]


def test_an_error_in_reading_documents_is_not_swallowed():
    def documents():
        yield from (Document(str(n), "Fever.") for n in range(5))
        raise PelError("line 6 is damaged")

    with pytest.raises(PelError, match="line 6"):
        list(process_documents(spacy.blank("en"), documents(), batch_size=2))


@pytest.mark.parametrize("unit", ["No fever now.\n\n", "No fever now. ", "fever ", "fever,"])
def test_pieces(unit):
    text = unit * 60
    pieces = list(text_pieces(text, 100))
    assert "".join(piece for _, piece in pieces) == text and len(pieces) > 1
    assert all(text[start:].startswith(piece) and len(piece) <= 100 for start, piece in pieces)
    if not unit.endswith(","):
        assert all(piece.endswith(unit) for _, piece in pieces)


def test_a_text_that_is_too_long_is_linked_in_pieces(folder, tmp_path):
    long = "No fever, and asthma after a heart attack. " * 25_000  # 1,075,000 characters
    write_jsonl(tmp_path / "in.jsonl", [{"id": n, "text": text} for n, text in enumerate(["No fever.", long, ""])])
    nlp = spacy.load(folder / "pipeline")
    nlp.remove_pipe("entity_ruler")  # would take a minute
    nlp.add_pipe("first_fevers", before="proxy_entity_linker")
    nlp.to_disk(tmp_path / "pipeline")
    args = ["link", tmp_path / "pipeline", tmp_path / "in.jsonl", tmp_path / "out.jsonl"]
    assert "left_out" not in done(*args, "--n-process", 2, "--json", "--n-candidates", 0).json
    first, second, third = read_jsonl(tmp_path / "out.jsonl")
    assert [one["start"] for one in first["mentions"]] == [3] and not third["mentions"]
    assert len(second["mentions"]) == 11 and second["text"] == long
    assert {long[one["start"] : one["end"]] for one in second["mentions"]} == {"fever"}
    assert {one["kb_id"] for one in second["mentions"]} == {"C5"}


@Language.component("first_fevers")
def first_fevers(doc):
    """The first fever of a text."""
    found = next((token for token in doc if token.text == "fever"), None)
    if found is not None:
        doc.ents = [spacy.tokens.Span(doc, found.i, found.i + 1, label="ENTITY")]
    return doc


def test_rows_and_parts_say_what_failed(failing, tmp_path):
    loaded = load_pipeline(failing())
    write_jsonl(tmp_path / "in.jsonl", [{"id": n, "text": text, "meta": {"n": 1}} for n, text in enumerate(TEXTS)])
    batch = pa.RecordBatch.from_pylist(list(read_jsonl(tmp_path / "in.jsonl")))
    rows = link_batch(loaded, batch).to_pylist()
    assert [row["mentions"] is None for row in rows] == [False, True, False, False]
    assert json.loads(rows[1]["meta"]) == {"n": 1, "error": "ValueError: bad text"}
    output = PartedOutput(str(tmp_path / "out.parquet"), ".parquet")
    output.start({}, resume=False, overwrite=False)
    job = LinkJob(str(tmp_path / "failing"), str(tmp_path / "in.jsonl"), str(tmp_path / "out.parquet"))
    linker = PartLinker(job, output, 1, pipeline=loaded)
    reports = [linker.link(*part) for part in Corpus(job.input).parts(2)]
    assert [(report.documents, len(report.left_out)) for report in reports] == [(1, 1), (2, 0)]
    report = output.report([0, 1])
    assert report == Report(documents=3, mentions=3, left_out=[{"id": "1", "error": "ValueError: bad text"}])
    assert pq.read_table(tmp_path / "out.parquet")["id"].to_pylist() == ["0", "2", "3"]
    output.write(0, [])  # another try
    assert output.report([0, 1]).left_out == []


@pytest.mark.parametrize("end_to_end", [False, True])
def test_evaluate_counts_the_mentions_of_a_document_that_fails_as_wrong(failing, tmp_path, end_to_end):
    lines = []
    for text in ("No asthma.", "No BOOM asthma.", "asthma."):
        start = text.index("asthma")
        mention = {"start": start, "end": start + 6, "label": "ENTITY", "ids": ["C6"]}
        lines.append({"id": str(len(lines)), "text": text, "mentions": [mention]})
    write_jsonl(tmp_path / "gold.jsonl", lines)
    flags = ["--end-to-end"] if end_to_end else []
    result = done("evaluate", failing(), tmp_path / "gold.jsonl", "--output", tmp_path / "m", "--json", *flags)
    if end_to_end:
        assert "document '1'" in result.err and result.json["n_documents_left_out"] == 1
        assert result.json["accuracy"] == pytest.approx(2 / 3)
    else:  # gold mentions need no other component
        assert result.json["accuracy"] == 1

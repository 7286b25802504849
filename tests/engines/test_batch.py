"""link_batch: the rows of ``link``, wherever the corpus is cut, in any process and thread."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.conftest import NAMES, run
from forks import end_of, in_child

from spacy_pel.engines import batch as batches
from spacy_pel.engines import batch_schema, link_batch
from spacy_pel.errors import PelError
from spacy_pel.pipeline.saved import load_pipeline
from spacy_pel.util import read_jsonl

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch):
    monkeypatch.setattr(batches, "_pipelines", {})


def texts(n=12):
    return [f"No {NAMES[i % 8]} after {NAMES[(3 * i + 1) % 8]} and zebra fish {i}." for i in range(n)]


def batch_of(some, **more):
    return pa.RecordBatch.from_pydict({"id": [str(i) for i in range(len(some))], "text": some, **more})


def test_the_rows_are_those_of_link(folder, tmp_path):
    args = ("link", folder / "pipeline", folder / "dev.jsonl", tmp_path / "out.parquet")
    assert run(*args, "--n-candidates", 3, "--codes", "MESH").code == 0
    lines = list(read_jsonl(folder / "dev.jsonl"))
    batch = pa.RecordBatch.from_pylist([{"id": one["id"], "text": one["text"]} for one in lines])
    linked = link_batch(folder / "pipeline", batch, n_candidates=3, codes=["msh"])
    expected = pq.read_table(tmp_path / "out.parquet")
    assert linked.num_rows == 40 and pa.Table.from_batches([linked]).equals(expected)
    assert batch_schema(["MESH"]).equals(expected.schema) and linked.schema.metadata == {b"spacy_pel.links": b"1"}
    assert expected.schema.metadata == linked.schema.metadata


def test_a_row_does_not_depend_on_where_the_corpus_is_cut(bert_pipeline):
    whole = link_batch(bert_pipeline, batch_of(texts()))
    pieces = [link_batch(bert_pipeline, batch_of(texts()).slice(at, 5)) for at in range(0, 12, 5)]
    assert pa.Table.from_batches(pieces).equals(pa.Table.from_batches([whole]))
    as_table = link_batch(bert_pipeline, pa.Table.from_batches([batch_of(texts())]))
    assert as_table.equals(whole)


def test_columns(folder):
    abstracts = pa.array(["No fever.", None, ""], pa.large_string())
    columns = {"meta": ['{"year": 1999}', None, "no JSON"], "date": [date(2020, 1, 2), None, None]}
    some = pa.table({"pmid": [7.0, None, 9.0], "abstract": abstracts, **columns})
    rows = link_batch(folder / "pipeline", some, text="abstract", id="pmid").to_pylist()
    assert [row["id"] for row in rows] == ["7", None, "9"]  # a column of integers, of which one is missing
    assert [row["text"] for row in rows] == ["No fever.", None, ""]
    assert [[found["kb_id"] for found in row["mentions"]] for row in rows] == [["C5"], [], []]
    assert [json.loads(row["meta"]) for row in rows] == [
        {"date": "2020-01-02", "year": 1999},
        {"date": None},
        {"meta": "no JSON", "date": None},
    ]
    assert link_batch(folder / "pipeline", batch_of([])).schema.equals(batch_schema())


def test_columns_that_are_not_there(folder):
    with pytest.raises(PelError, match="E632.*'text'.*abstract"):
        link_batch(folder / "pipeline", pa.table({"id": [1], "abstract": ["Fever."]}))
    with pytest.raises(PelError, match="E633.*int64"):
        link_batch(folder / "pipeline", pa.table({"id": [1], "text": [1]}))
    with pytest.raises(PelError, match="E002"):
        link_batch(folder / "no_pipeline", batch_of(["Fever."]))


def test_a_process_loads_the_pipeline_once(folder, monkeypatch):
    loaded = []
    monkeypatch.setattr(batches, "load_pipeline", lambda path: loaded.append(path) or load_pipeline(path))
    for path in (folder / "pipeline", str(folder / "pipeline"), folder / "pipeline"):
        assert link_batch(path, batch_of(texts(2))).num_rows == 2
    assert len(loaded) == 1


def test_words_are_forgotten(folder):
    pipeline = load_pipeline(folder / "pipeline")
    link_batch(pipeline, batch_of(texts(2)))
    before = len(pipeline.nlp.vocab.strings)
    for number in range(5):
        link_batch(pipeline, batch_of([f"Fever{number}{i}x after aspirin{i}y." for i in range(20)]))
    assert len(pipeline.nlp.vocab.strings) == before
    assert link_batch(pipeline, batch_of(["No fever."]))["mentions"][0][0]["kb_id"].as_py() == "C5"


def test_threads_take_turns(bert_pipeline):
    """Without that: "Already borrowed" of the tokenizer, or a memory zone within another one's."""
    expected = link_batch(bert_pipeline, batch_of(texts()))
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: link_batch(bert_pipeline, batch_of(texts())), range(12)))
    assert all(one.equals(expected) for one in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_links_after_its_parent_did(bert_pipeline):
    """Also while another thread of the parent links."""
    expected = link_batch(bert_pipeline, batch_of(texts()))
    with batches._one_thread:
        child = in_child(lambda: link_batch(bert_pipeline, batch_of(texts())).equals(expected), 60)
        assert end_of(child) == 0


SCRIPT = """
import json, sys
from spacy_pel.engines import link_batch
from spacy_pel.engines.batch import process_pipeline

path, texts = sys.argv[1], json.loads(sys.argv[2])
import numpy, pyarrow as pa  # their BLAS has as many threads as there are cores by then
loaded = process_pipeline(path, threads=1)
batch = pa.RecordBatch.from_pydict({"id": [str(i) for i in range(len(texts))], "text": texts})
rows = link_batch(path, batch).to_pylist()
import faiss, torch
from threadpoolctl import threadpool_info
threads = {one["num_threads"] for one in threadpool_info()}
print(json.dumps([rows, sorted(threads | {torch.get_num_threads(), faiss.omp_get_max_threads()})]))
"""


def test_a_fresh_worker_declares_extensions_and_has_its_threads(bert_pipeline):
    """As on an executor: nothing was imported or declared there before."""
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    command = [sys.executable, "-c", SCRIPT, str(bert_pipeline), json.dumps(texts(3))]
    result = subprocess.run(
        command, capture_output=True, text=True, env={**environment, "OMP_NUM_THREADS": "3"}, timeout=300
    )
    assert result.returncode == 0, result.stderr[-2000:]
    rows, threads = json.loads(result.stdout.splitlines()[-1])
    assert rows == link_batch(bert_pipeline, batch_of(texts(3))).to_pylist()
    assert threads == [1]


def test_a_pipeline_is_moved_to_its_device(bert_pipeline):
    loaded = batches.process_pipeline(bert_pipeline, device="meta")  # in place of a GPU
    encoder = loaded.component.linker.encoder
    assert {one.device.type for one in encoder.towers.parameters()} == {"meta"}

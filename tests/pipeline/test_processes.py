"""nlp.pipe with worker processes. A worker that hangs would hang the tests: they run in a
process of its own, with a time limit."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import spacy

from spacy_pel.types import Entity

from .conftest import NAME, TEXTS, links

SCRIPT = """
import json
import multiprocessing
import sys

def links(doc):
    return [[e.kb_id_, [c[0] for c in e._.pel_candidates], round(e._.pel_nil_score, 4)] for e in doc.ents]

def main(path, texts, methods):
    import faiss
    import spacy
    import torch

    faiss.omp_set_num_threads(2)
    torch.set_num_threads(2)
    nlp = spacy.load(path)
    # the parent has used the threads of both libraries, as anyone who has linked something before
    torch.randn(2000, 2000) @ torch.randn(2000, 2000)
    flat = faiss.IndexFlatIP(64)
    flat.add(torch.randn(5000, 64).numpy())
    flat.search(torch.randn(500, 64).numpy(), 5)
    found = {"alone": [links(doc) for doc in nlp.pipe(texts)]}
    for method in methods:
        multiprocessing.set_start_method(method, force=True)
        found[method] = [links(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
    print(json.dumps(found))

if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:])
"""
METHODS = ["spawn"] if sys.platform == "win32" else ["fork", "spawn"]


def test_two_processes_find_the_same_under_fork_and_spawn(make_nlp, tmp_path):
    nlp = make_nlp(index={"@pel_indexes": "spacy-pel.FaissFlat.v1"}, threshold=0.6)
    nlp.get_pipe(NAME).add_entities([Entity("N1", "Cold sore", ("cold",), ("T047",))])
    nlp.to_disk(tmp_path / "pipeline")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf8")
    texts = TEXTS * 3
    result = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "pipeline"), json.dumps(texts), *METHODS],
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    for method in METHODS:
        assert found[method] == found["alone"], method
    ids = [[ent[0] for ent in doc] for doc in found["alone"]]
    assert ids == [[ent.kb_id_ for ent in doc.ents] for doc in nlp.pipe(texts)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_fork_of_a_pipeline_that_lies_in_memory(nlp):
    nlp.get_pipe(NAME).add_entities([Entity("N1", "Cold sore", ("cold",), ("T047",))])
    expected = [links(doc) for doc in nlp.pipe(TEXTS)]
    assert [links(doc) for doc in nlp.pipe(TEXTS, n_process=2)] == expected


def test_threads_find_the_same(nlp):
    expected = [links(doc) for doc in nlp.pipe(TEXTS * 4)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert [links(doc) for doc in pool.map(nlp, TEXTS * 4)] == expected


def test_joblib_finds_the_same(nlp):
    """Its workers get the pipeline pickled."""
    joblib = pytest.importorskip("joblib")
    nlp.get_pipe(NAME).add_entities([Entity("N1", "Cold sore", ("cold",), ("T047",))])
    run = joblib.Parallel(n_jobs=2, timeout=120)
    found = run(joblib.delayed(_linked_ids)(nlp, text) for text in TEXTS)
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)
    assert found == [_linked_ids(nlp, text) for text in TEXTS] and any(found)


def _linked_ids(nlp, text):
    return [ent.kb_id_ for ent in nlp(text).ents]


@pytest.mark.skipif(sys.platform != "linux", reason="forks, and exchanges folders in one step")
def test_a_pipeline_is_read_while_another_process_saves_it(nlp, tmp_path):
    """Knowledge base, index and calibration always belong together."""
    path = tmp_path / "pipeline"
    nlp.to_disk(path)
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        linker = nlp.get_pipe(NAME)
        for number in range(25):
            linker.add_entities([Entity(f"N{number}", "Cold sore", ("cold",), ("T047",))])
            linker.to_disk(path / NAME)
        os._exit(0)
    counts, done, end = [], 0, time.monotonic() + 90
    while not done and time.monotonic() < end:
        other = nlp.get_pipe(NAME).from_disk(path / NAME)
        counts.append(len(other.kb))
        assert _linked_ids(nlp, TEXTS[2]) and len(other.index) >= len(other.kb)
        done, status = os.waitpid(child, os.WNOHANG)
    assert done and status == 0
    assert counts == sorted(counts) and len(set(counts)) > 1
    assert len(spacy.load(path).get_pipe(NAME).kb) == 35

"""Worker processes. One that hangs would hang the tests: they run apart, with a time limit."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path

import pytest
import spacy
from forks import in_child, meanwhile

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity

from .conftest import ENTITIES, NAME, TEXTS, found, links

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("link_in_processes.py")
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
FAISS_IVF = {"@pel_indexes": "spacy-pel.FaissIVF.v1", "flat_below": 0}
INDEXES = {
    "flat-int8": {"@pel_indexes": "spacy-pel.FaissIVF.v1", "codes": "int8"},
    "pq": {"@pel_indexes": "spacy-pel.FaissIVF.v1", "codes": "pq"},
    "ivf-int8": {**FAISS_IVF, "codes": "int8"},
}
BACKENDS = {
    "torch": {"@pel_backends": "spacy-pel.TorchBackend.v1", "precision": "float32"},
    "openvino": {"@pel_backends": "spacy-pel.OpenVinoBackend.v1", "precision": "float32"},
}


@pytest.fixture(scope="module")
def pipelines(make_nlp, tiny_bert, tmp_path_factory):
    """One of each index and of each backend, saved: FAISS maps the files of an index. Those of the
    backends have mapped lists, too."""
    folder = tmp_path_factory.mktemp("pipelines")
    made = [Entity(f"X{n}", f"Made-up syndrome {n}", (f"alias {n * 7919}",), ("T047",)) for n in range(300)]
    KnowledgeBase.build([*ENTITIES, *made], folder / "kb")
    settings = {name: {"index": index} for name, index in INDEXES.items()}
    for name, backend in BACKENDS.items():
        if name == "torch" or find_spec("openvino") is not None:
            encoder = {"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(tiny_bert), "backend": backend}
            settings[name] = {"encoder": encoder, "index": FAISS_IVF}
    for name, parts in settings.items():
        nlp = make_nlp(**parts)
        nlp.get_pipe(NAME).initialize(lambda: [], nlp=nlp, kb_loader=lambda: KnowledgeBase.from_disk(folder / "kb"))
        nlp.to_disk(folder / name)
    return [str(folder / name) for name in settings]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_find_what_their_parent_found(pipelines, method):
    """``pytest -rP`` shows the table."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("Windows has no fork")
    seconds = 400  # a hang lasts forever; other work may make all this slow
    if method == "spawn":  # nothing of FAISS differs there, and each worker takes seconds to start
        pipelines = [one for one in pipelines if one.endswith(("ivf-int8", "openvino"))]
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    if method == "fork":
        environment["PEL_TEST_PLUGINS"] = "1"  # they bring threads of their own
        environment["OMP_NUM_THREADS"] = "1"  # FAISS died in forked workers with this
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(SCRIPT), str(seconds), method, *pipelines],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            printed, said = process.communicate(timeout=seconds + 20)
        finally:
            if sys.platform != "win32" and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    sys.stdout.write(printed)
    assert process.returncode == 0, said
    rows = [line.split()[-1] for line in printed.splitlines()]
    n = len(pipelines)
    assert rows == ["same"] * (3 * n if method == "fork" else 1 + n)


def test_threads_find_the_same(nlp):
    expected = found(nlp, TEXTS * 4)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert [links(doc) for doc in pool.map(nlp, TEXTS * 4)] == expected


@pytest.mark.skipif(sys.platform != "linux", reason="forks, and exchanges folders in one step")
def test_a_pipeline_is_read_while_another_process_saves_it(nlp, tmp_path):
    """Knowledge base, index and calibration always belong together."""
    path = tmp_path / "pipeline"
    nlp.to_disk(path)

    def add_and_save():
        linker = nlp.get_pipe(NAME)
        for number in range(25):
            linker.add_entities([Entity(f"N{number}", "Cold sore", ("cold",), ("T047",))])
            linker.to_disk(path / NAME)
            time.sleep(0.1)  # to be read in between

    child = in_child(add_and_save)
    counts, done, end = [], 0, time.monotonic() + 90
    while not done and time.monotonic() < end:
        other = nlp.get_pipe(NAME).from_disk(path / NAME)
        counts.append(len(other.kb))
        assert nlp(TEXTS[2]).ents[0].kb_id_ and len(other.index) >= len(other.kb)
        done, status = os.waitpid(child, os.WNOHANG)
    assert done and status == 0
    assert counts == sorted(counts) and len(set(counts)) > 1
    assert len(spacy.load(path).get_pipe(NAME).kb) == 35


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_a_knowledge_base_is_read_while_another_process_replaces_it(tmp_path):
    few, many = (KnowledgeBase([Entity(f"{n}:{i}", f"Name {i}") for i in range(n)]) for n in (5, 10))
    few.to_disk(tmp_path / "kb")
    kbs = cycle((many, few))
    with meanwhile(lambda: next(kbs).to_disk(tmp_path / "kb")):
        assert {len(list(KnowledgeBase.from_disk(tmp_path / "kb").entities())) for _ in range(200)} == {5, 10}

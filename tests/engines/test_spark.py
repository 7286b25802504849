"""link_dataframe, on a real Spark of two workers on this machine."""

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli.conftest import run

from spacy_pel.engines.spark import link_dataframe
from spacy_pel.errors import PelError
from spacy_pel.util import read_jsonl, write_jsonl

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java 17"),
    pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc"),
]


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="needs the extra spark")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2,4]").appName("spacy_pel tests")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
        "spark.sql.shuffle.partitions": "2",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def workers():
    """Process ids of the Python workers that have loaded a pipeline."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command, maps = path.read_bytes(), (path.parent / "maps").read_text()
        except OSError:
            continue
        if b"pyspark.daemon" in command and "libtorch" in maps:
            found.append(int(path.parent.name))
    return found


def kill_one_after(output, killed):
    """Kill a worker as soon as the first task is done."""
    end = time.monotonic() + 240
    while time.monotonic() < end and not list(output.glob("_temporary/0/task_*")):
        time.sleep(0.02)
    for pid in workers()[:1]:
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)


def test_the_rows_are_those_of_link_also_after_a_worker_is_killed(folder, tmp_path, spark):
    texts = list(read_jsonl(folder / "dev.jsonl")) * 10
    texts = [{"id": f"{n}", "text": f"{one['text']} {n}"} for n, one in enumerate(texts)]
    write_jsonl(tmp_path / "in.jsonl", texts)
    assert (
        run(
            *("link", folder / "pipeline", tmp_path / "in.jsonl", tmp_path / "local.parquet"), *("--batch-size", 1)
        ).code
        == 0
    )
    shutil.make_archive(str(tmp_path / "pipeline"), "zip", folder / "pipeline")
    df = spark.read.json(str(tmp_path / "in.jsonl")).repartition(16)
    linked = link_dataframe(df, str(tmp_path / "pipeline.zip"))
    killed = []
    killer = threading.Thread(target=kill_one_after, args=(tmp_path / "out", killed))
    killer.start()
    linked.write.parquet(str(tmp_path / "out"))
    killer.join()
    assert killed
    expected = pq.read_table(tmp_path / "local.parquet")
    found = pq.read_table(tmp_path / "out").cast(expected.schema)
    assert found.num_rows == 400 and found.sort_by("id").equals(expected.sort_by("id"))


def test_columns(folder, spark):
    schema = "pmid long, abstract string, more string"
    df = spark.createDataFrame([(7, "No fever.", "x"), (8, None, "y")], schema)
    found = link_dataframe(df, str(folder / "pipeline"), text="abstract", id="pmid").collect()
    assert [(row.id, row.text) for row in found] == [("7", "No fever."), ("8", None)]
    assert [[one.kb_id for one in row.mentions] for row in found] == [["C5"], []]
    with pytest.raises(PelError, match="E632.*'text'.*pmid, abstract, more"):
        link_dataframe(df, str(folder / "pipeline"), id="pmid")


def test_without_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql.pandas.types", None)
    with pytest.raises(PelError, match=r"E003.*spacy-pel\[spark\]"):
        link_dataframe(None, "pipeline")

"""link_dataframe, on a real Spark of two workers on this machine."""

import os
import shutil
import sys

import pyarrow.parquet as pq
import pytest
from cli.conftest import done

from spacy_pel.engines import link_dataframe
from spacy_pel.errors import PelError

from .conftest import one_killed

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


def is_worker(process):
    """A Python worker that has loaded a pipeline."""
    return b"pyspark.daemon" in (process / "cmdline").read_bytes() and "libtorch" in (process / "maps").read_text()


def test_the_rows_are_those_of_link_also_after_a_worker_is_killed(folder, tmp_path, many_texts, spark):
    args = ("link", folder / "pipeline", many_texts, tmp_path / "local.parquet", "--codes", "MESH,ICD10CM")
    done(*args, "--batch-size", 1)
    df = spark.read.json(str(many_texts)).repartition(16)
    linked = link_dataframe(df, str(folder / "pipeline"), codes=["msh", "ICD10CM"])
    with one_killed(is_worker, lambda: list((tmp_path / "out").glob("_temporary/0/task_*"))):
        linked.write.parquet(str(tmp_path / "out"))
    expected = pq.read_table(tmp_path / "local.parquet")
    found = pq.read_table(tmp_path / "out").cast(expected.schema)
    assert found.num_rows == 400 and found.sort_by("id").equals(expected.sort_by("id"))


def test_columns(folder, spark):
    schema = "pmid long, abstract string, more string"
    df = spark.createDataFrame([(7, "No fever.", "x"), (8, None, "y")], schema)
    linked = link_dataframe(df, str(folder / "pipeline"), text="abstract", id="pmid")
    assert linked.schema["mentions"].metadata == {"spacy_pel.links": "1"}
    found = linked.collect()
    assert [(row.id, row.text) for row in found] == [("7", "No fever."), ("8", None)]
    assert [[one.kb_id for one in row.mentions] for row in found] == [["C5"], []]
    assert [row.meta for row in found] == ['{"more": "x"}', '{"more": "y"}']
    with pytest.raises(PelError, match="E632.*'text'.*pmid, abstract, more"):
        link_dataframe(df, str(folder / "pipeline"), id="pmid")
    with pytest.raises(PelError, match="E011.*'all'"):
        link_dataframe(df, str(folder / "pipeline"), text="abstract", id="pmid", codes=["all"])


def test_workers_import_own_code(own_part, spark):
    pipeline, code = own_part
    df = spark.createDataFrame([(7, "No fever.")], "id long, text string")
    (found,) = link_dataframe(df, str(pipeline), code=[str(code)]).collect()
    assert [one.kb_id for one in found.mentions] == ["C5"]


def test_without_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql.pandas.types", None)
    with pytest.raises(PelError, match=r"E003.*spacy-pel\[spark\]"):
        link_dataframe(None, "pipeline")

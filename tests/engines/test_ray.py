"""The engine ray, on a real cluster of two actors on this machine."""

import csv
import os
import sys

import pyarrow.parquet as pq
import pytest
from cli.conftest import done, refused, run

from spacy_pel.engines import LinkJob
from spacy_pel.engines import ray as engine
from spacy_pel.errors import PelError
from spacy_pel.util import read_text

from .conftest import one_killed

pytest.importorskip("ray", reason="needs the extra ray")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the actors in /proc")


@pytest.fixture(scope="module")
def cluster():
    """Started once as the engine starts it: that takes longer than the tests."""
    ray = engine._import_ray()
    assert engine.RayEngine(n_process=2)._start(ray)
    yield ray
    ray.shutdown()


def is_actor(process):
    title = (process / "cmdline").read_bytes()
    return b"ray::PartLinker" in title


def test_nothing_is_lost_or_doubled_by_a_killed_actor_and_resume_links_what_is_missing(
    folder, tmp_path, many_texts, cluster
):
    out = tmp_path / "out.parquet"
    args = ["link", folder / "pipeline", many_texts, "--codes", "msh,ICD10CM"]
    on_ray = [*args, out, "--engine", "ray", "--n-process", 2, "--part-size", 10, "--json"]
    with one_killed(is_actor, (out / "part-000000.parquet").exists):
        result = done(*on_ray)
    assert (result.json["documents"], result.json["resumed_after"]) == (400, 0)
    names = [f"part-{number:06}.parquet" for number in range(40)]
    reports = [f"_report-{number:06}.json" for number in range(40)]
    assert sorted(one.name for one in out.iterdir()) == ["_SUCCESS", *reports, "_settings.json", *names]
    done(*args, tmp_path / "local.parquet", "--part-size", 10, "--n-process", 2)
    expected = pq.read_table(tmp_path / "local.parquet")
    linked = pq.read_table(out)
    assert linked.sort_by("id").equals(expected.sort_by("id"))
    assert result.json["mentions"] == sum(map(len, expected["mentions"].to_pylist())) > 400
    assert linked["mentions"][0][0]["codes"].as_py().keys() == {"MESH", "ICD10CM"}
    # resumed
    before = {name: (out / name).stat().st_mtime_ns for name in names}
    for name in ("_SUCCESS", *names[5:7]):
        (out / name).unlink()
    assert run(*on_ray).code == 2
    resumed = done(*on_ray, "--resume")
    assert (resumed.json["resumed_after"], resumed.json["documents"]) == (380, 400)
    assert resumed.json["nil"] == result.json["nil"]
    after = {name: (out / name).stat().st_mtime_ns for name in names}
    assert {name for name in names if after[name] != before[name]} == {*names[5:7]}
    assert pq.read_table(out).equals(linked)


def test_a_document_that_cannot_be_read_is_named(folder, tmp_path, cluster):
    (tmp_path / "in.jsonl").write_text('{"text": "Fever."}\n' * 12 + '{"body": "Fever."}\n')
    args = ("link", folder / "pipeline", tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--engine", "ray")
    result = run(*args, "--part-size", 6)
    assert result.code == 2 and "E641" in result.err and "document 13" in result.err
    assert not (tmp_path / "out.jsonl" / "_SUCCESS").exists()


def test_tables(folder, tmp_path, cluster):
    """Only the first documents have mentions, and every part has the same header."""
    name = "out.tsv.gz"
    texts = ["fever after\naspirin", "kidney stone", *["nothing"] * 10]
    with open(tmp_path / "in.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [["pmid", "abstract", "year"], *([f"0{n}", text, n] for n, text in enumerate(texts))]
        )
    args = ("link", folder / "pipeline", tmp_path / "in.csv", tmp_path / name, "--engine", "ray", "--part-size", 5)
    named = ("--text-column", "abstract", "--id-column", "pmid", "--json")
    result = done(*args, *named).json
    assert [result[key] for key in ("documents", "mentions", "nil")] == [12, 3, 0]
    parts = [read_text(tmp_path / name / f"part-{n:06}{name[3:]}") for n in range(3)]
    rows = [list(csv.reader(part.splitlines(), delimiter="\t")) for part in parts]
    assert [[(row[0], row[3], row[-1]) for row in part[1:]] for part in rows] == [
        [("00", "fever", "0"), ("00", "aspirin", "0"), ("01", "kidney stone", "1")],
        *([], []),
    ]
    assert rows[0][0] == rows[1][0] == rows[2][0] and rows[0][0][-1] == "year"
    (tmp_path / name / "_SUCCESS").unlink()
    (tmp_path / name / f"part-000001{name[3:]}").unlink()
    resumed = done(*args, *named, "--resume").json
    assert [resumed[key] for key in ("documents", "mentions", "resumed_after")] == [12, 3, 7]


def test_actors_import_own_code(own_part, tmp_path, cluster, monkeypatch):
    pipeline, code = own_part
    (tmp_path / "in.jsonl").write_text('{"text": "No fever."}\n')
    monkeypatch.chdir(tmp_path)  # actors run elsewhere
    args = ("link", pipeline, "in.jsonl", "out.jsonl", "--engine", "ray", "--json")
    assert done(*args, "--code", code.name).json["mentions"] == 1


def test_nothing_phones_home(cluster):
    from ray._common.usage import usage_lib

    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0" and not usage_lib.usage_stats_enabled()
    assert not cluster._private.worker.global_worker.node.webui_url  # no dashboard


def test_an_error_of_an_actor_is_told(folder, tmp_path, cluster):
    (tmp_path / "in.txt").write_text("No fever.\n")
    (tmp_path / "own.py").write_text(
        "from spacy_pel.engines.job import PartLinker\nfrom spacy_pel.errors import Errors, PelError\n"
        "def link(self, number, documents):\n    raise PelError(Errors.E645.format(path='x'))\n"
        "PartLinker.link = link\n"
    )
    args = ("link", folder / "pipeline", tmp_path / "in.txt", tmp_path / "out.jsonl", "--engine", "ray")
    refused("E645", *args, "--code", tmp_path / "own.py")


def test_without_ray(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PelError, match=r"E003.*spacy-pel\[ray\]"):
        engine.RayEngine()(LinkJob("pipeline", "in.jsonl", str(tmp_path / "out.jsonl")))


def test_resume_refuses_another_kind_of_parts(folder, tmp_path, cluster):
    (tmp_path / "in.jsonl").write_text('{"text": "Fever."}\n' * 4)
    args = ("link", folder / "pipeline", tmp_path / "in.jsonl", tmp_path / "out", "--engine", "ray")
    assert run(*args, "--part-size", 2, "--to", "jsonl").code == 0
    (tmp_path / "out" / "_SUCCESS").unlink()
    assert "kind" in refused("E644", *args, "--part-size", 2, "--to", "parquet", "--resume")


def test_an_output_around_its_input_is_refused(folder, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "Fever."}\n')
    refused("E649", "link", folder / "pipeline", tmp_path, tmp_path / "out.parquet", "--engine", "ray")

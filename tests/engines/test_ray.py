"""The engine ray, on a real cluster of two actors on this machine."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli.conftest import run

from spacy_pel.engines import LinkJob
from spacy_pel.engines import ray as engine
from spacy_pel.errors import Errors, PelError
from spacy_pel.util import read_jsonl, write_jsonl

pytest.importorskip("ray", reason="needs the extra ray")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the actors in /proc")


@pytest.fixture(scope="module")
def cluster():
    """Started once as the engine starts it: that takes longer than the tests."""
    ray = engine._import_ray()
    assert engine.RayEngine(n_process=2)._start(ray)
    yield ray
    ray.shutdown()


def actors():
    """Process ids of the actors that link."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = path.read_bytes()
        except OSError:
            continue
        if b"ray::" in title and b"Map" in title:
            found.append(int(path.parent.name))
    return found


def kill_one_after(first, killed):
    """Kill an actor as soon as a part is there."""
    end = time.monotonic() + 240
    while time.monotonic() < end and not first.exists():
        time.sleep(0.02)
    for pid in actors()[:1]:
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)


def test_nothing_is_lost_or_doubled_by_a_killed_actor_and_resume_links_what_is_missing(folder, tmp_path, cluster):
    texts = list(read_jsonl(folder / "dev.jsonl")) * 10
    texts = [{"id": f"{n}", "text": f"{one['text']} {n}"} for n, one in enumerate(texts)]
    write_jsonl(tmp_path / "in.jsonl", texts)
    out = tmp_path / "out.parquet"
    args = ["link", folder / "pipeline", tmp_path / "in.jsonl"]
    killed = []
    killer = threading.Thread(target=kill_one_after, args=(out / "part-000000.parquet", killed))
    killer.start()
    on_ray = [*args, out, "--engine", "ray", "--n-process", 2, "--part-size", 10, "--json"]
    result = run(*on_ray)
    killer.join()
    assert result.code == 0 and killed, result.err
    assert (result.json["documents"], result.json["resumed_after"]) == (400, 0)
    names = [f"part-{number:06}.parquet" for number in range(40)]
    assert sorted(one.name for one in out.iterdir()) == ["_SUCCESS", "_settings.json", *names]
    assert run(*args, tmp_path / "local.parquet", "--batch-size", 1).code == 0
    expected = pq.read_table(tmp_path / "local.parquet")
    linked = pq.read_table(out)
    assert linked.sort_by("id").equals(expected.sort_by("id"))
    assert result.json["mentions"] == sum(map(len, expected["mentions"].to_pylist())) > 400
    # resumed
    before = {name: (out / name).stat().st_mtime_ns for name in names}
    for name in ("_SUCCESS", *names[5:7]):
        (out / name).unlink()
    assert run(*on_ray).code == 2
    resumed = run(*on_ray, "--resume")
    assert resumed.code == 0 and resumed.json["resumed_after"] == 380, resumed.err
    assert resumed.json["documents"] == 400 and resumed.json["nil"] == result.json["nil"]
    after = {name: (out / name).stat().st_mtime_ns for name in names}
    assert {name for name in names if after[name] != before[name]} == {*names[5:7]}
    assert pq.read_table(out).equals(linked)


def test_a_document_that_cannot_be_read_is_named(folder, tmp_path, cluster):
    (tmp_path / "in.jsonl").write_text('{"text": "Fever."}\n' * 12 + '{"body": "Fever."}\n')
    args = ("link", folder / "pipeline", tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--engine", "ray")
    result = run(*args, "--part-size", 6)
    assert result.code == 2 and "E641" in result.err and "document 13" in result.err
    assert not (tmp_path / "out.jsonl" / "_SUCCESS").exists()


def test_nothing_phones_home(cluster):
    from ray._common.usage import usage_lib

    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0" and not usage_lib.usage_stats_enabled()
    assert not cluster._private.worker.global_worker.node.webui_url  # no dashboard


@pytest.mark.parametrize(
    "errors, said",
    [([OSError("away")] * 2, ""), ([OSError("away")] * 3, None), ([PelError(Errors.E645.format(path="x"))], "E645")],
    ids=["twice", "always", "refused"],
)
def test_a_failed_part_is_tried_three_times(folder, tmp_path, monkeypatch, errors, said):
    job = LinkJob(str(folder / "pipeline"), str(tmp_path), str(tmp_path / "out.jsonl"))
    linker = engine._PartLinker(engine.RayEngine(tries=3), job)
    left = list(errors)

    def link_part(*args, **settings):
        if left:
            raise left.pop()
        return {"part": 0}

    monkeypatch.setattr(engine, "link_part", link_part)
    row = {"number": 0, "path": "x", "first": 0, "n": 1, "offset": 0}
    if said is None:
        with pytest.raises(OSError, match="away"):
            linker(row)
    else:
        assert said in linker(row)["error"]
    assert not left


def test_without_ray(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PelError, match=r"E003.*spacy-pel\[ray\]"):
        engine.RayEngine()(LinkJob("pipeline", "in.jsonl", str(tmp_path / "out.jsonl")))


def test_resume_refuses_another_kind_of_parts(folder, tmp_path, cluster):
    (tmp_path / "in.jsonl").write_text('{"text": "Fever."}\n' * 4)
    args = ("link", folder / "pipeline", tmp_path / "in.jsonl", tmp_path / "out", "--engine", "ray")
    assert run(*args, "--part-size", 2, "--to", "jsonl").code == 0
    (tmp_path / "out" / "_SUCCESS").unlink()
    refused = run(*args, "--part-size", 2, "--to", "parquet", "--resume")
    assert refused.code == 2 and "E644" in refused.err and "kind" in refused.err


def test_an_output_around_its_input_is_refused(folder, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "Fever."}\n')
    result = run("link", folder / "pipeline", tmp_path, tmp_path / "out.parquet", "--engine", "ray")
    assert result.code == 2 and "E649" in result.err

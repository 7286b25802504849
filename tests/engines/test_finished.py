"""The list of finished runs: what counts as changed, damaged lines, and runs that end at the same time."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from spacy_pel.engines import finished as module
from spacy_pel.engines.finished import Finished, finished_run, remember_finished

RUN = Finished({"pipeline": "abc"}, {"documents": 3, "mentions": 2, "nil": 1, "left_out": 0})


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path_factory):
    path = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr(module, "cache_folder", lambda: path)
    return path


@pytest.fixture
def output(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("one\n")
    return path


def test_a_file_edited_to_the_same_length_has_changed(output):
    os.utime(output, ns=(1, 1))
    remember_finished(output, RUN)
    assert finished_run(output) == RUN
    output.write_text("two\n")
    assert finished_run(output) is None


@pytest.mark.parametrize("text", ["T1\tB 0 3\ttwo", "T1\tB 0 3\tlonger"])
def test_a_folder_has_changed_once_a_file_in_it_has(tmp_path, text):
    folder = tmp_path / "out.brat"
    folder.mkdir()
    for name in ("a.txt", "a.ann"):
        (folder / name).write_text("T1\tB 0 3\tone")
        os.utime(folder / name, ns=(1, 1))
    remember_finished(folder, RUN)
    assert finished_run(folder) == RUN
    (folder / "a.ann").write_text(text)
    assert finished_run(folder) is None
    remember_finished(folder, RUN)
    assert finished_run(folder) == RUN
    (folder / "a.ann").unlink()
    assert finished_run(folder) is None


def test_runs_that_end_at_the_same_time_are_all_remembered(tmp_path):
    outputs = [tmp_path / f"{number}.jsonl" for number in range(100)]
    for path in outputs:
        path.touch()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda path: remember_finished(path, RUN), outputs))
    assert [finished_run(path) for path in outputs] == [RUN] * 100


def test_old_runs_are_forgotten(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_KEPT", 3)
    outputs = [tmp_path / f"{number}.jsonl" for number in range(7)]
    for path in outputs:
        path.touch()
        remember_finished(path, RUN)
    assert [finished_run(path) is not None for path in outputs] == [False] * 4 + [True] * 3
    assert [path.name for path in cache.iterdir()] == ["finished_links.jsonl"]


@pytest.mark.parametrize(
    "damage",
    [
        {"counts": None},
        {"counts": {}},
        {"counts": {**RUN.counts, "nil": "1"}},
        {"settings": None},
        {"settings": [1]},
        {"output": None},
    ],
)
def test_a_damaged_line_is_passed_over(cache, output, damage):
    remember_finished(output, RUN)
    lines = cache / "finished_links.jsonl"
    whole = lines.read_text()
    damaged = json.dumps({**json.loads(whole), **damage})
    lines.write_text(damaged + "\n")
    assert finished_run(output) is None
    lines.write_bytes(whole.encode() + damaged.encode() + b"\n[1]\n{\n\xff\n")
    assert finished_run(output) == RUN


def test_an_output_that_is_gone_ends_no_run(tmp_path):
    remember_finished(tmp_path / "gone", RUN)
    assert finished_run(tmp_path / "gone") is None

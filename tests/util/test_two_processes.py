"""Processes that write the same folder, or read it while it is written: old or new, never half of each."""

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from forks import end_of, in_child

from spacy_pel import PelError
from spacy_pel.util import writing
from spacy_pel.util.saved_folder import check_folder, read_whole, update_folder, verify_folders, write_folder

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="forks")]
KIND = "test folder"
NAMES = [f"{number:02}.txt" for number in range(40)]


def write_all(path, content):
    with write_folder(path, kind=KIND, version=1) as part:
        for name in [*NAMES, "counter.txt"]:
            (part / name).write_text(content)


def count_on(path, n):
    """Add 1 to what is there, n times; the other files stay as they are."""
    for _ in range(n):
        with update_folder(path, kind=KIND, version=1, rewritten=["counter.txt"]) as part:
            (part / "counter.txt").write_text(str(int((path / "counter.txt").read_text()) + 1))


def contents(path):
    """Of all files but the counter; one text, if they belong together."""
    check_folder(path, kind=KIND, version=1)
    return {(path / name).read_text() for name in NAMES}


@pytest.fixture
def folder(tmp_path):
    write_all(tmp_path / "saved", "old")
    return tmp_path / "saved"


def test_a_reader_sees_whole_folders_while_two_processes_write_them(folder):
    write_all(folder, "0")
    works = (lambda: [write_all(folder, str(number)) for number in range(60)]), (lambda: count_on(folder, 60))
    writers = [in_child(work) for work in works]
    seen, ended, end = [], [], time.monotonic() + 90
    while writers and time.monotonic() < end:
        seen.append(read_whole(folder, lambda: contents(folder)))
        for child in list(writers):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                writers.remove(child)
                ended.append(status)
    assert not writers, "a writer hangs"
    assert ended == [0, 0]
    assert len(seen) > 5 and all(len(one) == 1 for one in seen)
    assert len(contents(folder)) == 1 and verify_folders(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["saved"]


def test_two_processes_that_change_a_folder_take_turns(folder):
    write_all(folder, "0")
    children = [in_child(lambda: count_on(folder, 40)) for _ in range(2)]
    assert [end_of(child) for child in children] == [0, 0]
    assert (folder / "counter.txt").read_text() == "80"


@pytest.mark.parametrize("error", [PelError, RuntimeError])
def test_a_folder_that_stays_is_read_once(folder, error):
    read = []

    def fail():
        read.append(1)
        raise error("damaged")

    with pytest.raises(error, match="damaged"):
        read_whole(folder, fail)
    assert len(read) == 1
    write_all(folder, "new")
    assert read_whole(folder, lambda: contents(folder)) == {"new"}


@pytest.mark.parametrize("error", [PelError, FileNotFoundError, ValueError, RuntimeError])
def test_what_cannot_be_read_as_it_was_replaced_is_read_again(folder, error):
    """FAISS, say, raises RuntimeError for the half of a file."""

    def replaced_once():
        found = contents(folder)
        if found == {"old"}:
            write_all(folder, "new")
            raise error("half of each")
        return found

    assert read_whole(folder, replaced_once) == {"new"}


def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(folder, monkeypatch):
    monkeypatch.setattr(writing, "_PATIENCE", 0.1)
    with update_folder(folder, kind=KIND, version=1):
        child = in_child(lambda: time.sleep(60))
    try:
        with update_folder(folder, kind=KIND, version=1):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_change_does_not_wait_forever(folder, monkeypatch):
    monkeypatch.setattr(writing, "_PATIENCE", 0.1)
    before = contents(folder)

    def change():
        with update_folder(folder, kind=KIND, version=1, rewritten=NAMES):
            pass

    with update_folder(folder, kind=KIND, version=1), ThreadPoolExecutor(1) as other:
        with pytest.raises(PelError, match="E014.*Nothing was changed"):
            other.submit(change).result()
    assert contents(folder) == before


def test_a_folder_beside_a_long_change_is_replaced(folder, monkeypatch):
    """The lock is on the folder above: a training must not end because a neighbour is changed for minutes."""
    monkeypatch.setattr(writing, "_PATIENCE", 0.1)
    write_all(folder.with_name("neighbour"), "old")
    with update_folder(folder, kind=KIND, version=1), ThreadPoolExecutor(1) as other:
        other.submit(write_all, folder.with_name("neighbour"), "new").result()
    assert contents(folder.with_name("neighbour")) == {"new"}

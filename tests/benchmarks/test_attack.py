"""The attack finds what it is there to find: raw exceptions, crashes, hangs and poor errors."""

import os
import time

import pytest

from benchmarks.attack.__main__ import attacks, table_of
from benchmarks.attack.readers import ReaderAttack
from benchmarks.attack.runner import CRASH, HANG, RAW, REFUSED, WRONG, Wrong, names_a_file, run_attack, verdict_of
from spacy_pel.errors import PelError
from spacy_pel.registry import registry

pytestmark = pytest.mark.slow


def reads(paths, out):
    """Fails in another way for each first letter of the file."""
    kind = paths[0].read_text()[:1]
    if kind == "c":
        os.abort()
    if kind == "h":
        time.sleep(60)
    if kind == "w":
        raise Wrong("a false answer")
    if kind == "n":
        raise PelError("[PEL-E002] It does not say which file.")
    if kind == "p":
        raise PelError(f"[PEL-E002] Expected something else at {paths[0]}.")
    raise KeyError(kind)


@pytest.mark.parametrize(
    ("kind", "verdict"), [("c", CRASH), ("h", HANG), ("w", WRONG), ("n", WRONG), ("p", REFUSED), ("k", RAW)]
)
def test_every_kind_of_failure_is_found(tmp_path, monkeypatch, kind, verdict):
    (tmp_path / "x.txt").write_text(kind)
    attack = ReaderAttack("made-up", tmp_path / "x.txt", reads)
    monkeypatch.setattr("benchmarks.attack.readers.mutated", lambda data, rng: data + b"!")
    attack.packs = False
    tally = run_attack(attack, seed=3, seconds=60, most=2, hang=1.5, folder=tmp_path / "run")
    assert tally.counts == {verdict: 2} and tally.inputs == 2
    assert (tmp_path / "run" / "given" / "x.txt").read_text() == kind  # also after a crash
    assert len(tally.failures) == (0 if verdict == REFUSED else 2)
    if verdict != REFUSED:
        assert f"made-up --seed 3 --number 1: {verdict}" in tally.failures[1]
    assert "made-up" in [*table_of([tally]).columns[0].cells]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("at {0}/given/tiny.txt, line 3", True),
        ("in tiny.txt: got 5", True),
        ("at {0}/pipeline/kb/vocab", True),
        ("the kb, its vocab and the tiny text", False),
        ("at {0}/given, got nothing", False),
        ("in tiny.txt.bak", False),
    ],
)
def test_whether_an_error_names_a_file(tmp_path, said, named):
    for name in ("given/tiny.txt", "pipeline/kb/vocab"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert names_a_file(f"[PEL-E002] Expected text {said.format(tmp_path)}", tmp_path) == named


def test_an_input_is_made_from_its_seed_and_number(tmp_path):
    seen = []
    attack = ReaderAttack("made-up", _file(tmp_path), lambda paths, out: seen.append(paths[0].read_bytes()))
    attack.prepare(tmp_path / "run")
    for number in (0, 1, 0, 1):
        verdict_of(attack, 0, number, tmp_path / "run")
    assert seen[:2] == seen[2:] and seen[0] != seen[1]
    assert (tmp_path / "run" / "given" / "x.txt").read_bytes() == _file(tmp_path).read_bytes()


def _file(folder):
    (folder / "x.txt").write_text("\n".join(f"line {number}\tof several" for number in range(20)))
    return folder / "x.txt"


def test_every_registered_reader_is_attacked():
    names = attacks("readers").keys()
    assert {f"corpus-{name}" for name in registry.parts("pel_corpus_readers")} <= names
    assert {f"kb-{name}" for name in registry.parts("pel_kb_readers")} - {"kb-saved"} <= names

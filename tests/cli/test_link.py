"""link: formats in and out, processes, resuming after a kill."""

import gzip
import multiprocessing
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from forks import end_of, in_child, kill_here

from spacy_pel.corpora import read_corpus, read_links
from spacy_pel.engines.output import PartedOutput, Report, only_writer
from spacy_pel.errors import PelError
from spacy_pel.linking.confidence import Confidence
from spacy_pel.util import read_json, read_jsonl, write_json, write_jsonl

from .conftest import done, refused, run

pytestmark = pytest.mark.slow

TEXTS = ["Aspirin for fever.".lower(), "Nothing here.", "No stroke after influenza."]
IDS = [["C0", "C5"], [], ["C3", "C7"]]


def write_input(path, kind):
    if kind == "txt":
        path.write_text("\n".join(TEXTS) + "\n\n")
    elif kind == "txt.gz":
        path.write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    elif kind == "jsonl":
        path.write_text("".join(f'{{"id": "d{i}", "text": "{text}"}}\n' for i, text in enumerate(TEXTS)))
    elif kind == "parquet":
        pq.write_table(pa.table({"id": [1, 2, 3], "text": TEXTS, "more": [0, 0, 0]}), path)
    elif kind == "pubtator":
        halves = [text.split(" ", 1) for text in TEXTS]
        path.write_text("".join(f"{i}|t|{title}\n{i}|a|{rest}\n\n" for i, (title, rest) in enumerate(halves)))
    elif kind == "xml.gz":
        documents = "".join(map(bioc_xml, map(str, range(len(TEXTS))), TEXTS))
        path.write_bytes(gzip.compress(f"<collection>{documents}</collection>".encode()))


def bioc_xml(name, text):
    """A document with a passage for each word."""
    words = [(match.start(), match[0]) for match in re.finditer(r"\S+", text)]
    passages = "".join(f"<passage><offset>{at}</offset><text>{word}</text></passage>" for at, word in words)
    return f"<document><id>{name}</id>{passages}</document>"


@pytest.mark.parametrize("kind", ["txt.gz", "jsonl", "parquet", "pubtator", "xml.gz"])
def test_formats(folder, tmp_path, kind):
    source = tmp_path / f"in.{kind}"
    write_input(source, kind)
    result = done("link", folder / "pipeline", source, tmp_path / "out.jsonl", "--json")
    assert (result.json["documents"], result.json["mentions"]) == (3, 4)
    lines = list(read_jsonl(tmp_path / "out.jsonl"))
    assert [line["text"] for line in lines] == TEXTS
    assert [[found["kb_id"] for found in line["mentions"]] for line in lines] == IDS
    assert lines[0]["mentions"][0]["name"] == "aspirin"
    # the output is a corpus of the package's own format
    assert [[m.ids[0] for m in d.mentions] for d in read_corpus(tmp_path / "out.jsonl")] == IDS


def test_folder_of_bioc(folder, tmp_path):
    """An article a file, as PubMed Central has them: its passages are one text."""
    (tmp_path / "in").mkdir()
    for name, text in zip("abc", TEXTS, strict=True):
        (tmp_path / "in" / f"{name}.xml").write_text(f"<collection>{bioc_xml(name, text)}</collection>")
    (tmp_path / "in" / "readme.md").write_text("no article")
    args = ["link", folder / "pipeline", tmp_path / "in", tmp_path / "out.xml", "--part-size", 2]
    killed_after(1, args)
    done(*args, "--resume")
    run("convert", tmp_path / "back.jsonl", "--reader", "bioc", "--strict", tmp_path / "out.xml")
    back = list(read_corpus(tmp_path / "back.jsonl"))
    assert [(found.id, found.text) for found in back] == list(zip("abc", TEXTS, strict=True))
    assert [[mention.ids[0] for mention in found.mentions] for found in back] == IDS
    (tmp_path / "in" / "c.xml").write_text("<collection><document>")
    assert "c.xml" in run(*args, "--overwrite").err
    (tmp_path / "in" / "README.TXT").write_text("No article.")
    refused("E648", *args, "--overwrite")  # texts or articles?
    done("link", folder / "pipeline", tmp_path / "in", tmp_path / "out.jsonl", "--format", "txt")
    assert [line["id"] for line in read_jsonl(tmp_path / "out.jsonl")] == ["README"]


def test_processes_give_the_same(folder, tmp_path):
    before, outputs = multiprocessing.get_start_method(), []
    for n, method in ((1, before), (2, before), (3, before), (2, "spawn")):
        multiprocessing.set_start_method(method, force=True)
        try:
            outputs.append(tmp_path / f"{n}-{method}.jsonl")
            done("link", folder / "pipeline", folder / "dev.jsonl", outputs[-1], "--n-process", n)
        finally:
            multiprocessing.set_start_method(before, force=True)
    assert len({output.read_bytes() for output in outputs}) == 1


def killed_after(n_parts, args):
    """Run link in a child process that dies by SIGKILL while it writes its part n_parts + 1."""
    write = PartedOutput.write

    def dying_write(self, number, records, **settings):
        if number == n_parts:
            kill_here()
        return write(self, number, records, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PartedOutput, "write", dying_write)
        assert end_of(in_child(lambda: run(*args))) == -signal.SIGKILL


def without_scores(path):
    """Documents and ids; other batches may change the last digit of a score."""
    lines = list(read_jsonl(path))
    for line in lines:
        for found in line["mentions"]:
            found["candidates"] = [entity_id for entity_id, _ in found["candidates"]]
            del found["score"], found["nil_score"]
    return lines


def without_done(path):
    """The names of files, without those that say that an output is whole."""
    names = sorted(file.name for file in path.iterdir())
    assert all(f"{name}.done.json" in names for name in names if not name.endswith(".done.json"))
    return [name for name in names if not name.endswith(".done.json")]


def test_resume_after_kill_9(folder, tmp_path):
    args = ["link", folder / "pipeline", folder / "dev.jsonl"]
    assert run(*args, tmp_path / "whole.jsonl").code == 0
    out = tmp_path / "out.jsonl"
    args += [out, "--part-size", 7]
    killed_after(3, args)
    assert not out.exists()
    assert "--resume" in refused("E643", *args)
    resumed = done(*args, "--resume", "--json")
    assert resumed.json["resumed_after"] == 3 * 7  # not all over again
    assert "Resuming after 21 of 40 documents" in resumed.err
    linked = list(read_jsonl(out))
    assert resumed.json["documents"] == len(linked) == 40, "the summary is of the whole output"
    assert resumed.json["mentions"] == sum(len(line["mentions"]) for line in linked) > 40
    assert resumed.json["nil"] == sum(m["kb_id"] == "NIL" for line in linked for m in line["mentions"])
    assert without_scores(out) == without_scores(tmp_path / "whole.jsonl")
    assert without_done(tmp_path) == ["out.jsonl", "whole.jsonl"]


@pytest.mark.parametrize("name", ["out.jsonl", "out.brat"])
def test_resuming_a_finished_run_says_that_all_is_done(folder, tmp_path, name):
    source, out = tmp_path / "in.jsonl", tmp_path / name
    shutil.copy(folder / "dev.jsonl", source)
    args = ["link", folder / "pipeline", source, out]
    whole = run(*args, "--part-size", 7, "--json").json
    written = out.stat()
    again = done(*args, "--resume", "--json")
    assert "Nothing to do: all documents are linked" in again.err
    assert all(again.json[key] == whole[key] for key in ("documents", "mentions", "nil"))
    assert again.json["resumed_after"] == 40 and out.stat().st_mtime_ns == written.st_mtime_ns
    source.write_text(source.read_text().replace("studied", "study", 1))
    assert "input changed" in refused("E638", *args, "--resume")


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet", "out.brat"])
def test_nothing_is_linked_where_the_text_is_null(folder, tmp_path, name):
    lines = [{"id": "a", "text": None}, {"id": "b", "text": "Aspirin: aspirin."}, {"id": "c", "text": ""}]
    write_jsonl(tmp_path / "in.jsonl", lines)
    result = run("link", folder / "pipeline", tmp_path / "in.jsonl", tmp_path / name, "--json")
    assert (result.code, result.json["documents"], result.json["mentions"]) == (0, 3, 1), result.err
    assert "2 of 3 documents have no text to link" in result.err
    assert result.json["without_text"] == 2
    if name in ("out.jsonl", "out.parquet"):
        links = read_links(tmp_path / name)
        assert [(one["text"], len(one["mentions"])) for one in links] == [("", 0), ("Aspirin: aspirin.", 1), ("", 0)]


def test_a_text_that_cannot_be_read_is_found_before_any_is_linked(folder, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "Fever."}\n' * 200 + '{"body": "Fever."}\n')
    said = refused("E641", "link", folder / "pipeline", tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert "document 201" in said
    assert list(tmp_path.iterdir()) == [tmp_path / "in.jsonl"]


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="workers are watched where they fork")
def test_workers_end_with_a_killed_parent(folder, tmp_path):
    """The parent dies while its workers have texts; they are of its process group, as nothing else is."""
    parent, _ = linking_long_texts(folder, tmp_path)
    assert parent.poll() is None
    parent.kill()
    parent.communicate()
    wait_until(lambda: not alive(parent.pid), 20)
    assert not alive(parent.pid)


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="workers are watched where they fork")
def test_an_interrupt_ends_parent_and_workers(folder, tmp_path):
    """Texts of more than a pipe holds wait for the workers; the first lines are saved by then."""
    parent, parts = linking_long_texts(folder, tmp_path)
    assert parent.poll() is None
    os.killpg(parent.pid, signal.SIGINT)
    try:
        _, shown = parent.communicate(timeout=60)
        assert parent.returncode == 130 and "Traceback" not in shown and not alive(parent.pid)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
    assert (parts / "part-000001.jsonl").exists()
    assert shown.strip().splitlines()[-1].startswith("Interrupted. What was linked is saved")
    assert "W127" not in shown


@pytest.mark.parametrize("n_process", [1, 2])
def test_an_interrupt_between_parts(folder, tmp_path, monkeypatch, n_process):
    add = Report.add

    def add_and_interrupt(self, report):
        add(self, report)
        if self.documents == 6 and not sent:
            sent.append(signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    sent = []
    monkeypatch.setattr(Report, "add", add_and_interrupt)
    args = ["link", folder / "pipeline", folder / "dev.jsonl", tmp_path / "out.jsonl", "--n-process", n_process]
    result = run(*args, "--part-size", 3)
    assert result.code == 130
    saved = 3 * len(list((tmp_path / "out.jsonl.parts").glob("part-*")))
    assert "\nInterrupted. What was linked is saved; run" in result.err
    assert not multiprocessing.active_children()
    monkeypatch.setattr(Report, "add", add)
    assert done(*args, "--part-size", 3, "--resume", "--json").json["resumed_after"] == saved


def linking_long_texts(folder, tmp_path):
    """Two workers with texts of more than a pipe holds, and the saved parts."""
    lines = [f'{{"text": "{"Aspirin for fever. " * (1 if i < 100 else 800)}"}}\n' for i in range(3000)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    args = [tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--n-process", "2", "--part-size", "10"]
    parent = subprocess.Popen(
        [sys.executable, "-m", "spacy_pel", "link", *map(str, (folder / "pipeline", *args))],
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    parts = tmp_path / "out.jsonl.parts"
    wait_until(lambda: (parts / "part-000001.jsonl").exists() or parent.poll() is not None, 120)
    return parent, parts


def alive(group):
    """Whether the process group has members."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(done, seconds):
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.2)


def test_an_interrupted_run_is_noticed_before_loading(tmp_path):
    write_input(tmp_path / "in.txt", "txt")
    PartedOutput(str(tmp_path / "out.jsonl.parts"), ".jsonl").start({}, resume=False, overwrite=False)
    args = ["link", tmp_path / "no pipeline", tmp_path / "in.txt", tmp_path / "out.jsonl"]
    refused("E643", *args)
    assert "E643" not in run(*args, "--resume").err


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv.gz", "out.brat"])
@pytest.mark.parametrize("more", [[], ["--resume"], ["--overwrite"], ["--resume", "--overwrite"]])
def test_a_run_that_still_writes_is_left_alone(tmp_path, more, name):
    """Both linked the rest, and one ended with "Failed to open local file"."""
    write_input(tmp_path / "in.txt", "txt")
    args = ["link", tmp_path / "no pipeline", tmp_path / "in.txt", tmp_path / name, *more]
    parts = PartedOutput(f"{tmp_path / name}.parts", ".jsonl")

    def write_on():
        with only_writer(Path(parts.name)):
            parts.start({}, resume=False, overwrite=False)
            time.sleep(60)

    pid = in_child(write_on)
    wait_until(parts.exists, 20)
    try:
        said = refused("E669", *args)
        assert f"process {pid} on {platform.node()}, since 20" in said and parts.exists()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    refused("E002" if more else "E643", *args)  # a killed run has no lock


def test_nothing_is_left_of_a_run_that_never_began(tmp_path):
    refused("E002", "link", tmp_path / "no pipeline", tmp_path / "in.txt", tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(PelError, match="E002.*writable path"), only_writer(tmp_path / "file" / "parts"):
        pass


def test_overwrite_starts_an_interrupted_run_over(folder, tmp_path):
    args = ["link", folder / "pipeline", folder / "dev.jsonl", tmp_path / "out.jsonl", "--part-size", 7]
    killed_after(3, args)
    args += ["--n-candidates", 1, "--json"]
    assert "n_candidates changed from 5 to 1" in refused("E644", *args, "--resume", "--overwrite")
    assert done(*args, "--overwrite").json["resumed_after"] == 0
    assert len(list(read_jsonl(tmp_path / "out.jsonl"))) == 40 and without_done(tmp_path) == ["out.jsonl"]


def test_resume_refuses_other_confidence_and_parts_of_another_format(folder, pipeline, tmp_path):
    args = ["link", pipeline, folder / "dev.jsonl", tmp_path / "out.jsonl", "--part-size", 7]
    killed_after(1, args)
    settings = tmp_path / "out.jsonl.parts" / "_settings.json"
    written = read_json(settings)
    write_json(settings, {key: value for key, value in written.items() if key != "format"})
    assert "format changed" in refused("E644", *args, "--resume")  # its records lack "probability"
    write_json(settings, written)
    nlp = spacy.load(pipeline)
    nlp.get_pipe("proxy_entity_linker").linker.decider.confidence = Confidence((0.0, 1.0, -1.0), (0.0, 1.0))
    nlp.to_disk(pipeline)
    assert "pipeline changed" in refused("E644", *args, "--resume")


def test_resume_reads_the_texts_of_a_folder_and_nothing_else_in_it(folder, tmp_path):
    for name, text in zip("abc", TEXTS, strict=True):
        (tmp_path / f"{name}.txt").write_text(text)
    args = ["link", folder / "pipeline", tmp_path, tmp_path / "out.jsonl", "--part-size", 1]
    killed_after(1, args)
    (tmp_path / "c.txt").write_text(TEXTS[2].replace("stroke", "asthma"))  # of the same size
    assert "input changed" in refused("E644", *args, "--resume")
    (tmp_path / "c.txt").write_text(TEXTS[2])
    assert done(*args, "--resume", "--json").json["resumed_after"] == 1


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_full_disk_is_named_and_the_run_goes_on_later(folder, tmp_path, ending):
    write_jsonl(tmp_path / "in.jsonl", [{"id": str(n), "text": "No fever, no stroke. " * 20 * n} for n in range(9)])
    args = ["link", folder / "pipeline", tmp_path / "in.jsonl", tmp_path / f"out.{ending}", "--part-size", 1]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        assert f"out.{ending}.parts" in refused("E002", *args)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    result = done(*args, "--resume", "--json").json
    assert result["documents"] == 9 and result["resumed_after"] > 0

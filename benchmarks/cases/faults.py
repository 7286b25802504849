"""What an attack and new users found: runs of signs, damage, locks, answers that depend on neighbours, provenance."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .field import NAME, Field, Row, case


def _linear(call: Callable[[int], Any], sizes: tuple[int, ...] = (25_000, 100_000)) -> tuple[dict[int, float], bool]:
    """Seconds by size, and whether four times the size takes less than ten times as long."""
    seconds = {}
    for size in sizes:
        start = time.perf_counter()
        call(size)
        seconds[size] = round(time.perf_counter() - start, 2)
    return seconds, seconds[sizes[1]] < 10 * max(seconds[sizes[0]], 0.2)


@case(54, "long runs of one sign")
def runs(field: Field) -> Iterator[Row]:
    assert field.table
    for name, nlp in (("default", field.nlp), ("table", field.table)):
        for sign in ("$", "%", "(", "$%", "a (AB) "):
            seconds, is_right = _linear(lambda n, sign=sign, nlp=nlp: nlp((sign * n)[:n] + " asthma"))
            yield Row(f"{name}: {sign!r}", "linear", seconds, is_right)
    yield from _served(field)


def _served(field: Field) -> Iterator[Row]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "spacy_pel", "serve", str(field.work / "table"), "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(f"{address}/health")
        body = json.dumps({"text": "$" * 50_000}).encode()
        post = urllib.request.Request(f"{address}/link", body, {"Content-Type": "application/json"})
        threading.Thread(target=_quietly, args=(post,), daemon=True).start()
        slowest = 0.0
        for _ in range(40):
            start = time.perf_counter()
            _quietly(f"{address}/health")
            slowest = max(slowest, time.perf_counter() - start)
            time.sleep(0.05)
        yield Row("/health during POST /link of 50,000 $", "under 1 s", f"{slowest:.2f} s", slowest < 1)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)


def _wait(address: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(address, timeout=5)
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(address)


def _quietly(request: Any) -> None:
    try:
        urllib.request.urlopen(request, timeout=60)
    except OSError:
        pass


@case(55, "abbreviations")
def abbreviations(field: Field) -> Iterator[Row]:
    from spacy_pel.abbreviations.definitions import find_abbreviations

    draw = random.Random(0)

    def words(n: int) -> str:
        letters = "abcdefghijklmnopqrstuvwxyz"
        return "".join(f"a{''.join(draw.choices(letters, k=4))} bxxxx (AB). " for _ in range(n // 18))

    make_doc = field.nlp.make_doc
    for given, text_of in (
        ("a…a b (AB)…", lambda n: "a" * (n // 2) + " b (AB)" * (n // 14)),
        ("axxxx bxxxx (AB). …", words),
        ("a (AB) …", lambda n: "a (AB) " * (n // 7)),
    ):
        docs = {n: make_doc(text_of(n)) for n in (25_000, 100_000)}
        seconds, is_right = _linear(lambda n, docs=docs: find_abbreviations(docs[n]))
        yield Row(given, "linear", seconds, is_right)


@case(57, "two commands at once")
def at_once(field: Field) -> Iterator[Row]:
    kb = field.work / "locked_kb"
    (field.work / "locked.csv").write_text("code,name\nA0,zorbitis\n", encoding="utf8")
    field.run("kb", "build", kb, field.work / "locked.csv")
    commands = []
    for number in range(1, 5):
        path = field.work / f"one{number}.csv"
        path.write_text(f"code,name\nA{number},plexitis {number}\n", encoding="utf8")
        commands.append([sys.executable, "-m", "spacy_pel", "kb", "add", str(kb), str(path)])
    started = [subprocess.Popen(one, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for one in commands]
    codes = [process.wait() for process in started]
    from spacy_pel.kb import KnowledgeBase

    ids = set(KnowledgeBase.from_disk(kb))
    right = {"A0", *(f"A{number}" for number, code in enumerate(codes, 1) if code == 0)}
    yield Row("four kb add at once", f"{sorted(right)}: all that exited 0", sorted(ids), ids == right)

    assert field.table
    texts = field.work / "many.txt"
    texts.write_text("\n".join(f"Asthma of patient {n}." for n in range(60_000)), encoding="utf8")
    command = [sys.executable, "-m", "spacy_pel", "link", str(field.work / "table"), str(texts)]
    command += [str(field.work / "many.jsonl"), "--resume"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(15)
    is_running = first.poll() is None
    second = subprocess.run(command, capture_output=True, text=True)
    said = second.stderr.strip()[-300:]
    first.wait()
    lines = sum(1 for _ in (field.work / "many.jsonl").open(encoding="utf8"))
    is_right = is_running and second.returncode == 2 and "Traceback" not in said and lines == 60_000
    yield Row(
        "link --resume twice", "exit 2 and a message; 60,000 lines", f"{second.returncode}, {said}, {lines}", is_right
    )


@case(58, "numbers out of range in a folder whose manifest fits")
def out_of_range(field: Field) -> Iterator[Row]:
    import shutil

    import numpy as np
    import pyarrow as pa
    import spacy

    from spacy_pel.errors import PelError

    assert field.table
    for name in ("index/rows.arrow", "kb/alias_rows.arrow"):
        folder = field.work / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(field.work / "table", folder)
        path = folder / NAME / name
        table = pa.ipc.open_file(path.read_bytes()).read_all()
        for number, column in enumerate(table.schema):
            if pa.types.is_integer(column.type):
                values = table.column(number).to_numpy().copy()
                values[-1] = np.iinfo(values.dtype).max
                table = table.set_column(number, column, [pa.array(values, column.type)])
                break
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        _fit_manifests(folder, path)
        try:
            nlp = spacy.load(folder)
            got = f"loads, {[ent.kb_id_ for ent in nlp('Asthma and hypertension.').ents]}"
        except PelError as err:
            got = f"PelError: {err}"
        except Exception as err:  # noqa: BLE001 - what is shown
            got = f"{type(err).__name__}: {err}"
        yield Row(name, "an error of ours that names the file", got[:300], got.startswith("PelError"))


def _fit_manifests(folder: Path, changed: Path) -> None:
    """Rewrite size and hash of a file in each manifest above it."""
    import hashlib

    for parent in changed.parents:
        manifest = parent / "manifest.json"
        if manifest.is_file():
            content = json.loads(manifest.read_text(encoding="utf8"))
            for name, entry in content["files"].items():
                file = parent / name
                if file == changed or file.name == "manifest.json":
                    data = file.read_bytes()
                    entry.update(size=len(data), sha256=hashlib.sha256(data).hexdigest())
            manifest.write_text(json.dumps(content), encoding="utf8")
        if parent == folder:
            break


def _answers(doc: Any) -> list[tuple[Any, ...]]:
    return [
        (e.start_char, e.end_char, e.kb_id_, e._.pel_nil_score, e._.pel_probability, repr(e._.pel_candidates))
        for e in doc.ents
    ]


@case(59, "the same answer whatever stands beside it")
def same(field: Field) -> Iterator[Row]:
    texts = [
        "Gaussian Plume models were used.",
        "Patients with rheumatoid arthritis received methotrexate and folic acid for two years.",
        "Fever.",
        "Expression of TNF-alpha in synovial fluid of 32 patients was measured by ELISA " * 6,
        "COPD exacerbations and chronic kidney disease were frequent in the elderly population.",
    ]
    alone = [_answers(field.nlp(text)) for text in texts]
    for size in (1, 2, 5):
        for order in (1, -1):
            docs = list(field.nlp.pipe(texts[::order], batch_size=size))[::order]
            got = sum(_answers(doc) != answers for doc, answers in zip(docs, alone, strict=True))
            yield Row(f"nlp.pipe, batches of {size}, order {order}", "0 of 5 differ", f"{got} of 5 differ", got == 0)


@case(60, "provenance")
def provenance(field: Field) -> Iterator[Row]:
    assert field.table
    path, pipeline = field.work / "extra.obo", field.work / "table"
    header = (
        'format-version: 1.2\ndata-version: 2030-02-01\nontology: zorb\nproperty_value: terms:license "CC BY 4.0"\n'
    )
    path.write_text(f"{header}\n[Term]\nid: ZORB:1\nname: zorbitis\n", encoding="utf8")
    code, text = field.run("kb", "add", pipeline, path)
    info = field.answer("kb", "info", pipeline / NAME / "kb")
    listed = json.dumps(info)
    yield Row("kb add zorb.obo; kb info", "names the source and its version", listed[:400], "2030-02-01" in listed)
    whole = json.dumps(json.loads((pipeline / "meta.json").read_text(encoding="utf8")))
    yield Row("... meta.json of the pipeline", "names the source", whole[:400], "zorb" in whole.lower())
    code, text = field.run("info", pipeline)
    yield Row("... info", "names the source", text[-400:], "zorb" in text.lower())


@case(62, "a row of a known id adds to it")
def adds(field: Field) -> Iterator[Row]:
    from spacy_pel.kb import KnowledgeBase

    base, more = field.work / "base.obo", field.work / "row.csv"
    term = "[Term]\nid: HP:1\nname: Hemiparesis\n{}\n"
    synonyms = 'def: "Weakness of a side." []\nsynonym: "Half-sided weakness" EXACT []\nxref: SNOMEDCT:1'
    base.write_text("format-version: 1.2\n\n" + term.format(synonyms), encoding="utf8")
    more.write_text("id,name,synonyms\nHP:1,Hemiparesis,one-sided weakness\n", encoding="utf8")
    for options, right in (((), True), (("--replace",), False)):
        kb = field.work / f"known{len(options)}"
        field.run("kb", "build", kb, base)
        _, text = field.run("kb", "add", kb, more, *options)
        entity = KnowledgeBase.from_disk(kb)["HP:1"]
        got = [entity.canonical_name, *entity.aliases, entity.definition]
        kept = "Half-sided weakness" in got and entity.definition is not None
        is_right = kept == right and "one-sided weakness" in got
        yield Row(" ".join(("kb add", *options)), "adds" if right else "replaces", got, is_right)


@case(63, "a human's answer is sure")
def sure(field: Field) -> Iterator[Row]:
    import spacy
    from spacy.tokens import Span

    assert field.table
    nlp = spacy.load(field.work / "table")
    text = "The patient was seen for wheezy chest today."
    doc = nlp.make_doc(text)
    start = text.index("wheezy")
    span: Any = doc.char_span(start, start + len("wheezy chest"))
    doc.ents = [Span(doc, span.start, span.end, label="ENTITY", kb_id="J45")]
    nlp.get_pipe(NAME).learn([doc])
    got = [(ent.text, ent.kb_id_, round(ent._.pel_probability, 2)) for ent in nlp(text).ents]
    is_right = any(surface == "wheezy chest" and kb_id == "J45" and p > 0.9 for surface, kb_id, p in got)
    yield Row("corrected once, the same text", "J45, P > .9", got, is_right)


@case(66, "sentences of notes")
def sentences(field: Field) -> Iterator[Row]:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("pel_line_sentences")
    nlp.add_pipe("sentencizer")
    text = "K21.9 Reflux disease without esophagitis\nF41.1 Generalized anxiety disorder\nJ45 Asthma"
    got = [sent.text.strip() for sent in nlp(text).sents]
    yield Row(text, text.splitlines(), got)


@case(70, "settings that a user set")
def settings(field: Field) -> Iterator[Row]:
    import pickle

    import spacy

    assert field.table
    nlp = spacy.load(field.work / "table")
    values = {"threshold": 0.123, "labels_discard": ["CHEMICAL"], "top_k": 7}
    for name, value in values.items():
        setattr(nlp.get_pipe(NAME), name, value)
    nlp.to_disk(field.work / "set")
    loaded = {
        "to_disk": spacy.load(field.work / "set"),
        "pickle": pickle.loads(pickle.dumps(nlp)),
        "to_bytes": spacy.load(field.work / "table").from_bytes(nlp.to_bytes()),
    }
    for way, again in loaded.items():
        got = {name: getattr(again.get_pipe(NAME), name) for name in values}
        got["labels_discard"] = list(got["labels_discard"])
        yield Row(way, values, got)


@case(64, "one unit")
def unit(field: Field) -> Iterator[Row]:
    log = field.work / "evaluated"
    corpus = field.work / "gold.jsonl"
    mention = {"start": 0, "end": 6, "label": "", "ids": ["J45"]}
    corpus.write_text(json.dumps({"id": "1", "text": "Asthma was seen.", "mentions": [mention]}), encoding="utf8")
    assert field.table
    _, text = field.run("evaluate", field.work / "table", corpus, "--output", log)
    metrics = json.loads((log / "metrics.json").read_text(encoding="utf8"))
    is_right = metrics["accuracy"] == 1.0 and "100" in text
    yield Row("evaluate", "100.0% printed, 1.0 in the file", [metrics["accuracy"], text[-300:]], is_right)


_NOTES = 3000


@case(65, "memory over notes")
def memory(field: Field) -> Iterator[Row]:
    script = field.work / "memory.py"
    script.write_text(
        "import sys, spacy, random\n"
        "notes = [n for n in open(sys.argv[2], encoding='utf8').read().split('\\n\\n') if n.strip()]\n"
        "nlp = spacy.load(sys.argv[1])\n"
        "draw = random.Random(0)\n"
        f"texts = (f'{{draw.choice(notes)}} MRN {{n}}' for n in range({_NOTES}))\n"
        "def rss():\n"
        "    return int(next(l for l in open('/proc/self/status') if l.startswith('VmRSS')).split()[1]) // 1024\n"
        "curve = []\n"
        f"for _ in range({_NOTES // 500}):\n"
        "    with nlp.memory_zone():\n"
        "        for doc in nlp.pipe([next(texts) for _ in range(500)]):\n"
        "            pass\n"
        "    curve.append(rss())\n"
        "print(curve)\n",
        encoding="utf8",
    )
    command = [sys.executable, str(script), str(field.default), "tests/fixtures/notes.txt"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "2"})
    curve = json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else done.stderr[-300:]
    is_right = isinstance(curve, list) and curve[-1] < 1200 and curve[-1] - curve[-3] < 60
    yield Row(f"{_NOTES:,} notes", "below 1,200 MB, flat over the last thousand", curve, is_right)

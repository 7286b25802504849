"""Bodies within the size limit that cost a server much more than their size, and requests that forge lines.

The server is a process of its own, which the command starts: an event loop that is kept busy would not show in
threads of this one.
"""

import json
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

pytestmark = pytest.mark.slow

GATE_CODE = """
import sys
from spacy.language import Language
Language.component("pel_test_gate", func=lambda doc: doc)
from spacy_pel.cli import main
main()
"""
JSON = {"content-type": "application/json"}
SIZE = 4_000_000
SECONDS = 30  # on a busy machine; without limits these take minutes
MEMORY = 1_500_000  # KiB; without limits they take up to 7 GB


def corrections(kb_id):
    return b'{"corrections":[{"text":"a","start":0,"end":1,"kb_id":"%s"}]}' % kb_id


def meta(value):
    return b'{"documents":[{"text":"a","meta":{"a":%s}}]}' % value


def repeated(before, item, after, *, size=SIZE):
    """A list or object of as many items as fit."""
    n = (size - len(before) - len(after)) // (len(item) + 1)
    return (before + ",".join([item] * n) + after).encode()


def keys(before, after, *, size=SIZE):
    names = ",".join(f'"k{i}":0' for i in range((size - 100) // 12))
    return (before + names + after).encode()


def one_hash(n):
    """Numbers that a dict keeps in one place."""
    return b'{"ids":[%s]}' % b",".join(b"%d" % (i * (2**61 - 1)) for i in range(n))


HOSTILE = {
    "empty corrections": ("learn", repeated('{"corrections":[', "{}", "]}"), 413),
    "numbers for documents": ("link", repeated('{"documents":[', "1", "]}"), 413),
    "a list for a text": ("explain", repeated('{"start":0,"end":1,"text":[', "1", "]}"), 413),
    "numbers with one hash": ("unlearn", one_hash(150_000), 413),
    "unknown keys": ("link", keys('{"text":"a",', "}", size=500_000), 422),
    "too many unknown keys": ("link", keys("{", "}"), 413),
    "a key again and again": ("learn", repeated("{", '"by":1', "}"), 413),
    "a long key": ("link", b'{"' + b"x" * (SIZE - 10) + b'":0}', 422),
    "deep meta": ("link", meta(b"[" * 40_000 + b"]" * 40_000), 400),
    "a long number": ("explain", b'{"text":"a","end":1,"start":' + b"1" * (SIZE - 100) + b"}", 400),
    "a large number": ("explain", b'{"text":"a","end":1,"start":-' + b"9" * 4000 + b"}", 400),
    "too large meta": ("link", repeated('{"documents":[{"text":"a","meta":{"a":[', "[]", "]}}]}"), 413),
    "strings that end in backslashes": ("link", meta(repeated("[", r'"\\\\"', "]", size=290_000)), 200),
    "signs after an open string": ("link", b'{"text":"\\"' + b"," * (SIZE - 20), 413),
    "a long run of signs": ("link", b'{"text":"%s"}' % (b"$" * 50_000), 200),
    "dots within a word": ("link", b'{"text":"abcd%sabcd"}' % (b"." * 49_000), 200),
    "UTF-16": ("link", '{"∀":[],"∀":[]}'.encode("utf-16-le"), 400),
}  # fmt: skip


@pytest.fixture(scope="module")
def process(pipeline):
    words = [sys.executable, "-c", GATE_CODE, "serve", str(pipeline), "--port", "0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            started = json.loads(running.stdout.readline())
            running.url = started["url"]
            assert started["host"] == "127.0.0.1" and running.url.endswith(f":{started['port']}")
            yield running
            running.terminate()
            out, err = running.communicate(timeout=60)
            assert (
                running.returncode == 0 and out == "" and err.splitlines()[-1] == "Stopped" and "Traceback" not in err
            )
        finally:
            running.kill()


def peak(process):
    """The most memory that a process had, in KiB."""
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])


def attacked(process, path, body):
    """The answer, and how long /health took meanwhile."""
    waited = []
    with ThreadPoolExecutor(1) as pool, httpx.Client(timeout=300) as client:
        answer = pool.submit(httpx.post, f"{process.url}/{path}", content=body, headers=JSON, timeout=300)
        while not waited or not answer.done():
            started = time.monotonic()
            assert client.get(process.url + "/health").status_code == 200
            waited.append(time.monotonic() - started)
        return answer.result(), waited


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("name", HOSTILE)
def test_bodies_that_cost_more_than_their_size(process, name):
    path, body, status = HOSTILE[name]
    assert len(body) <= SIZE
    started = time.monotonic()
    answer, waited = attacked(process, path, body)
    assert answer.status_code == status, answer.text[:300]
    if status != 200:
        assert len(answer.content) < 2500 and answer.json()["detail"].startswith("[PEL-E")
    assert time.monotonic() - started < SECONDS and max(waited) < SECONDS
    assert peak(process) < MEMORY


@pytest.mark.parametrize("depth", [100, 500, 958, 1000])
def test_whatever_depth_can_be_read_can_be_written(process, depth):
    body = meta(b"[" * depth + b"]" * depth)
    answer = httpx.post(process.url + "/link", content=body, headers=JSON)
    assert answer.status_code == 200 if depth <= 100 else answer.status_code in (200, 400, 422), answer.text


def test_many_at_once(process):
    """Each of them is refused, and what they took is given back."""
    body = HOSTILE["empty corrections"][1]
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(attacked, process, "learn", body) for _ in range(12)]
        for one in answers:
            answer, waited = one.result()
            assert answer.status_code == 413 and max(waited) < SECONDS
    assert peak(process) < MEMORY


def test_compressed_bodies_are_refused(process):
    for coding in ("gzip", "br", "identity, gzip"):
        headers = {**JSON, "content-encoding": coding}
        answer = httpx.post(process.url + "/link", content=b"\x1f\x8b", headers=headers)
        assert answer.status_code == 415 and "E740" in answer.text and coding in answer.text


def test_a_length_that_is_too_large_is_refused_at_once(process):
    url = httpx.URL(process.url)
    with socket.create_connection((url.host, url.port), timeout=60) as connection:
        lines = ["POST /link HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Content-Length: 5000000"]
        connection.sendall("\r\n".join([*lines, "", "{}"]).encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")

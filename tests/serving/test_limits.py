"""What a server refuses, and that it goes on afterwards."""

import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from spacy_pel.serving import is_local
from spacy_pel.util import logger

from .conftest import SEEN, TEXT, WAITS, serving, wait_until

pytestmark = pytest.mark.slow

JSON = {"content-type": "application/json"}
LINK = {"text": TEXT}


def detail(response):
    return response.json()["detail"]


@pytest.mark.parametrize(
    "body, status, says",
    [
        ({"text": "x" * 301}, 413, "at most 300 characters, got 301"),
        ({"text": ["a"] * 4}, 413, "at most 3 texts"),
        ({}, 400, "got none"),
        ({"text": "a", "documents": []}, 400, "got both"),
        ({"text": "a", "txet": "b"}, 422, "txet"),
        ({"text": "a", "n_candidates": -1}, 422, "n_candidates"),
        ([1], 422, "body"),
    ],
)
def test_wrong_requests(client, body, status, says):
    response = client.post("/link", json=body)
    assert response.status_code == status and says in detail(response)
    assert detail(response).startswith("[PEL-E")


@pytest.mark.parametrize(
    "method, call, status, says",
    [
        ("POST", "link?format=tsv", 422, "format: Input should be 'json' or 'csv'"),
        ("GET", "link", 405, "Method Not Allowed, GET /link"),
        ("DELETE", "learn", 405, "Method Not Allowed, DELETE /learn"),
    ],
)
def test_wrong_parameters_and_methods(client, method, call, status, says):
    response = client.request(method, f"/{call}", json={"text": "a"} if method == "POST" else None)
    assert response.status_code == status and f"[PEL-E739] This request does not fit: {says}" in detail(response)


def of_meta(value):
    return b'{"documents": [{"text": "a", "meta": {"a": %s}}]}' % value


@pytest.mark.parametrize(
    "body", [b"{", b'{"text": "\\ud800"}', b"\xff", b"", *map(of_meta, [b"1e400", b"NaN", b'"\\ud800"'])]
)
def test_what_is_not_json(client, body):
    """Or could not be written again."""
    response = client.post("/link", content=body, headers=JSON)
    assert response.status_code in (400, 422) and re.match(r"\[PEL-E(733|739|002)]", detail(response))


def test_large_bodies(client):
    large = json.dumps({"text": "x" * 6000}).encode()
    assert client.post("/link", content=large, headers=JSON).status_code == 413
    # no length is announced: counted while it comes
    chunks = client.post("/link", content=(large[i : i + 500] for i in range(0, len(large), 500)), headers=JSON)
    assert chunks.status_code == 413 and "at most 5,000 bytes" in detail(chunks)
    assert client.post("/link", json=LINK).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", None])
def test_other_types_are_refused(client, kind):
    """Browsers let other sites post these, without asking."""
    headers = {} if kind is None else {"content-type": kind}
    response = client.post("/learn", content=json.dumps({"corrections": []}), headers=headers)
    assert response.status_code == 415 and "application/json" in detail(response)
    assert client.post("/link", json=LINK, headers={"content-type": "Application/JSON; charset=utf-8"}).is_success


@pytest.mark.parametrize("host", ["evil.example:8000", "127.0.0.1.evil.example", ""])
def test_other_hosts_are_refused(client, host):
    for response in (
        client.get("/health", headers={"host": host}),
        client.post("/link", json=LINK, headers={"host": host}),
    ):
        assert response.status_code == 400 and "E730" in detail(response)


def test_own_names_are_served(client, pipeline):
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:8000"):
        assert client.get("/health", headers={"host": host}).status_code == 200
    with serving(pipeline, allowed_hosts=["Named.example"]) as named:
        assert httpx.get(named.url + "/health", headers={"host": "named.example:80"}).status_code == 200


def test_local_hosts():
    assert is_local("127.0.0.2") and is_local("::1") and is_local("localhost")
    assert not is_local("0.0.0.0") and not is_local("::") and not is_local("10.0.0.1")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    ],
)
def test_other_sites_are_refused(client, headers):
    for response in (client.post("/learn", json={}, headers=headers), client.get("/search?q=a", headers=headers)):
        assert response.status_code == 403 and "E731" in detail(response)
        assert "access-control-allow-origin" not in response.headers


def test_the_own_site_and_links_to_the_page_are_served(client, server):
    assert client.post("/link", json=LINK, headers={"origin": server.url}).status_code == 200
    follows_link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=follows_link).status_code == 200


def test_unknown_paths(client):
    missing = client.get("/links")
    assert missing.status_code == 404 and "E737" in detail(missing)
    assert client.get("/static/../app.py").status_code == client.get("/static/%2e%2e/app.py").status_code == 404
    assert client.get("/entity/").status_code == 404
    assert client.get("/?from=mail").status_code == 200


# -- time --------------------------------------------------------------------------------------


def test_slow_clients(pipeline):
    head = b"POST /link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"
    with serving(pipeline, receive_timeout=0.5) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(head)
            for _ in range(3):  # each byte in time, and never the last one
                time.sleep(0.1)
                connection.sendall(b" ")
            assert httpx.get(server.url + "/health").status_code == 200
            answer = connection.recv(4096)
            assert answer.startswith(b"HTTP/1.1 408") and b"E732" in answer + connection.recv(4096)


def post(server, text, timeout=60):
    return httpx.post(server.url + "/link", json={"text": text}, timeout=timeout)


def test_full_queue(pipeline, shut_gate):
    with serving(pipeline, n_waiting=2) as server, ThreadPoolExecutor(4) as pool:
        health = lambda: httpx.get(server.url + "/health", timeout=60).json()  # noqa: E731
        running = [pool.submit(post, server, "WAIT aspirin")]
        assert WAITS.wait(30)
        running += [pool.submit(post, server, "aspirin") for _ in range(2)]
        wait_until(lambda: health()["waiting"] == 2)
        assert health()["status"] == "busy"
        refused = post(server, "aspirin")
        assert refused.status_code == 503 and int(refused.headers["retry-after"]) >= 1
        assert "E724" in detail(refused) and "2 requests are waiting" in detail(refused)
        # the knowledge base is looked up meanwhile
        assert httpx.get(server.url + "/entity/C1").status_code == 200
        shut_gate.set()
        assert [one.result().status_code for one in running] == [200] * 3
        assert health()["status"] == "ok" and post(server, "aspirin").status_code == 200


def test_what_takes_too_long_is_given_up(pipeline, shut_gate):
    with serving(pipeline, timeout=0.8, max_texts=64) as server:
        with ThreadPoolExecutor(2) as pool:
            texts = ["WAIT"] + ["aspirin"] * 40
            long = pool.submit(httpx.post, server.url + "/link", json={"text": texts}, timeout=60)
            assert WAITS.wait(30)
            waits = pool.submit(post, server, "aspirin")
            assert long.result().status_code == waits.result().status_code == 504
            assert "E723" in detail(long.result()) and "0.8 seconds" in detail(long.result())
        assert httpx.get(server.url + "/health").json()["waiting"] == 0
        shut_gate.set()
        wait_until(lambda: post(server, "cold").status_code == 200)
        assert SEEN.count("aspirin") < 10  # the first batch was not interrupted, the others were not begun


def test_too_many_connections(pipeline):
    with serving(pipeline, n_connections=3) as server:
        open_ones = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
        wait_until(lambda: len(server.server_state.connections) == 3)
        assert httpx.get(server.url + "/health").status_code == 503
        for one in open_ones:
            one.close()
        wait_until(lambda: not server.server_state.connections)
        assert httpx.get(server.url + "/health").status_code == 200


def test_stopping_answers_what_was_accepted(pipeline, shut_gate):
    with serving(pipeline) as server, ThreadPoolExecutor(2) as pool:
        running = [pool.submit(post, server, "WAIT aspirin")]
        assert WAITS.wait(30)
        running.append(pool.submit(post, server, "aspirin"))
        wait_until(lambda: httpx.get(server.url + "/health").json()["waiting"] == 1)
        server.should_exit = True
        time.sleep(0.5)
        with pytest.raises(httpx.ConnectError):
            post(server, "aspirin")
        shut_gate.set()
        assert [one.result().status_code for one in running] == [200, 200]


def test_a_bug_is_an_answer(server, client, monkeypatch):
    def broken(*args):
        raise RuntimeError("secret")

    monkeypatch.setattr(server.service, "entity", broken)
    response = client.get("/entity/C1")
    assert response.status_code == 500 and "E738" in detail(response) and "secret" not in response.text
    monkeypatch.undo()
    assert client.get("/entity/C1").status_code == 200


@pytest.mark.parametrize("path", ["/entity/%s", "/learned/%s/", "/search?n=%s"])
@pytest.mark.parametrize("ends", ["%0D%0A", "%E2%80%A8", "%00"])
def test_line_ends_in_addresses_forge_nothing(server, client, monkeypatch, caplog, path, ends):
    def broken(*args):
        raise RuntimeError("bug")

    monkeypatch.setattr(logger, "handlers", [caplog.handler])
    forged = path % f"a{ends}X-Forged: 1{ends}ERROR forged"
    answers = [client.get(forged)]
    monkeypatch.setattr(server.service, "entity", broken)
    answers.append(client.get(forged))
    for answer in answers:
        assert "x-forged" not in answer.headers and answer.json().get("detail", "").isprintable()
    if path.startswith("/entity") and "%0A" not in ends:  # no path of an entity has a line feed
        wait_until(lambda: caplog.records)  # after the answer
    assert all(record.getMessage().isprintable() for record in caplog.records)

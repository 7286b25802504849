"""The JSON API of a server that runs."""

import shutil
import sys

import httpx
import pytest
import spacy
from cli.conftest import done, refused, run

from spacy_pel.index.annotated_text import AliasPriors
from spacy_pel.serving import Service
from spacy_pel.types import NIL
from spacy_pel.util import read_jsonl, write_jsonl

from .conftest import EVIL, NAME, TEXT, serving

pytestmark = pytest.mark.slow

START = TEXT.index("heart attack")
ZEBRA_FISH = {"text": "A zebra fish.", "start": 2, "end": 12, "kb_id": "C1"}
MENTION = {"text": TEXT, "start": START, "end": START + len("heart attack")}


def answers(client, text=TEXT):
    (document,) = client.post("/link", json={"text": text}).raise_for_status().json()["documents"]
    return {one["text"]: one["kb_id"] for one in document["mentions"]}


# -- linking -----------------------------------------------------------------------------------


def test_links_are_the_rows_of_the_command_link(client, pipeline, tmp_path):
    """Same keys, same values."""
    texts = [TEXT, "", f"A cold {EVIL} and 🧬 aspirin."]
    given = [{"id": f"n{i}", "text": text, "meta": {"k": [i]}} for i, text in enumerate(texts)]
    write_jsonl(tmp_path / "in.jsonl", given)
    done("link", pipeline, tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--n-candidates", 3)
    written = list(read_jsonl(tmp_path / "out.jsonl"))
    response = client.post("/link", json={"documents": given, "n_candidates": 3})
    assert response.status_code == 200 and response.json() == {"documents": written}
    assert [len(one["mentions"]) for one in written] == [5, 0, 2]
    done("link", pipeline, tmp_path / "in.jsonl", tmp_path / "out.csv")
    response = client.post("/link?format=csv", json={"documents": given})
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.text == (tmp_path / "out.csv").read_text(encoding="utf8") and response.text.count("\n") == 8
    assert client.post("/link?format=xml", json={"documents": given}).status_code == 422


def test_one_text_or_several(client):
    (one,) = client.post("/link", json={"text": TEXT}).json()["documents"]
    two = client.post("/link", json={"text": [TEXT, "A cold."], "n_candidates": 0}).json()["documents"]
    assert one["id"] == "1" and [each["id"] for each in two] == ["1", "2"]
    assert len(one["mentions"][0]["candidates"]) > 1 and two[0]["mentions"][0]["candidates"] == []


def test_explain(client, server):
    why = client.post("/explain", json={**MENTION, "label": "DISEASE", "n_candidates": 2}).json()
    assert why["kb_id"] == "C2" and why["name"] == "heart attack" and why["text"] == "heart attack"
    assert why["learned"] is None and len(why["candidates"]) == 2 and why["difference"]
    first = why["candidates"][0]
    assert first["id"] == "C2" and first["features"]["exact"] == 1.0 and first["name_cosine"] is not None
    assert (first["types"], first["type_names"], first["xrefs"]) == (["T047"], ["Disease or Syndrome"], [])
    # a mention that the pipeline does not find
    other = {"text": "He had renal calculus.", "start": 7, "end": 21}
    assert client.post("/explain", json=other).json()["candidates"][0]["id"] == "MESH:D5/1"


def test_entities(client):
    one = client.get("/entity/C1").json()
    assert (one["id"], one["name"], one["aliases"]) == ("C1", "aspirin", ["acetylsalicylic acid"])
    assert (one["types"], one["definition"], one["url"]) == (["T109", "T121"], "Relieves pain.", None)
    assert one["forms"] == {"counts": {}, "n_others": 0, "n_mentions": 0}
    assert one["type_names"] == ["Organic Chemical", "Pharmacologic Substance"]
    assert (one["group"], one["group_name"]) == ("CHEM", "Chemicals & Drugs")
    rxnorm = "https://mor.nlm.nih.gov/RxNav/search?searchBy=RXCUI&searchTerm=1191"
    assert one["xrefs"] == [{"id": "RXNORM:1191", "url": rxnorm}, {"id": "own code", "url": None}]
    untyped = client.get("/entity/C3").json()
    assert (untyped["type_names"], untyped["group"], untyped["group_name"]) == (["symptom"], "", "")
    assert client.get("/entity/MESH:D5/1").json()["name"] == "kidney stone"
    assert client.get("/entity/MESH%3AD5%2F1").json()["id"] == "MESH:D5/1"
    missing = client.get("/entity/C99")
    assert missing.status_code == 404 and "C99" in missing.json()["detail"]
    several = client.post("/entities", json={"ids": ["C2", "C99", "C1", "C2"]}).json()["entities"]
    assert [each["id"] for each in several] == ["C2", "C1"]


def test_search(client):
    def found(q, n=10):
        return client.get("/search", params={"q": q, "n": n}).json()["entities"]

    first = found("infarc myo")[0]
    assert (first["id"], first["name"], first["match"]) == ("C2", "heart attack", "myocardial infarction")
    # few names were found: similar ones follow, each entity once
    ids = [one["id"] for one in found("heart")]
    assert ids[0] == "C2" and len(ids) == len(set(ids)) > 1
    types = {"types": ["T047"], "type_names": ["Disease or Syndrome"]}
    assert found("hart atack")[0] == {"id": "C2", "name": "heart attack", **types, "match": None}
    assert found("") == found("  ") == [] and len(found("e", n=2)) == 2
    assert client.get("/search", params={"q": "x" * 201}).status_code == 422


def test_similar_entities_of_a_form_in_a_list(pipeline, tmp_path):
    (tmp_path / "house.tsv").write_text("QX\trenal calculus\n", encoding="utf8")
    nlp = spacy.load(pipeline)
    nlp.add_pipe("pel_abbreviation_detector", first=True, config={"abbreviations": str(tmp_path / "house.tsv")})
    assert Service(nlp, NAME, title="tiny").similar("QX", 2)[0]["id"] == "MESH:D5/1"


def test_health_and_description(client):
    health = client.get("/health").json()
    assert (health["status"], health["pipeline"], health["entities"]) == ("ok", "tiny", 5)
    assert health["limits"]["max_chars"] == 300 and health["saves"] is False and health["waiting"] == 0
    groups = health["label_groups"]
    assert groups["BIOLOGIC_FUNCTION"] == groups["T037"] == {"group": "DISO", "group_name": "Disorders"}
    assert groups["GENE"]["group"] == "GENE" and "ENTITY" not in groups
    described = client.get("/openapi.json").json()
    paths = {"/link", "/explain", "/entity/{entity_id}", "/entities", "/search", "/learned", "/learn"}
    assert paths | {"/unlearn", "/health"} == described["paths"].keys()


@pytest.mark.parametrize("path", ["/", "/docs", "/static/page.css", "/static/serve.css", "/static/serve.js"])
def test_pages_load_nothing_from_elsewhere(client, path):
    response = client.get(path)
    assert response.status_code == 200 and len(response.content) > 500
    assert "http://" not in response.text and "https://" not in response.text and "//cdn" not in response.text
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';") and "unsafe" not in policy
    assert response.headers["x-content-type-options"] == "nosniff" and "server" not in response.headers
    assert "innerHTML" not in response.text


# -- corrections -------------------------------------------------------------------------------


@pytest.fixture
def own(pipeline, tmp_path):
    shutil.copytree(pipeline, tmp_path / "own")
    return tmp_path / "own"


def test_learn_and_undo(own):
    with serving(own) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        before = answers(client)
        assert before["heart attack"] == "C2"
        memory = client.post("/learn", json={"corrections": [{**MENTION, "kb_id": NIL}], "by": "Ann"}).json()
        (entry,) = memory["changed"]
        assert (entry["before_name"], entry["after"], entry["after_name"]) == ("heart attack", NIL, None)
        assert memory["learned"] == [entry] and memory["saved"] is False
        assert answers(client) == {**before, "heart attack": NIL}
        assert answers(client, "Another heart attack.") == {"heart attack": NIL}
        why = client.post("/explain", json=MENTION).json()
        assert why["learned"]["by"] == "Ann" and why["nil_score"] == 1.0
        assert client.get("/learned").json() == {"changed": [], "learned": [entry], "saved": False}
        assert client.post("/unlearn", json={"ids": [9]}).status_code == 400
        undone = client.post("/unlearn", json={"ids": [1]}).json()
        assert undone["changed"] == [{**entry, "decides": "nowhere", "n_agreeing": 0, "n_corrections": 0}]
        assert undone["learned"] == []
        assert answers(client) == before
    assert not (own / NAME / "memory").exists()  # without --save nothing is written


def test_where_a_correction_decides(own):
    """Without "always", annotated text outweighs it in other texts; the answer says so."""
    again, mention = "Another heart attack.", MENTION
    with serving(own) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        linker = server.service.component.linker
        linker.index.priors = AliasPriors.build(["heart attack"] * 3, linker.kb.rows(["C2"] * 3))
        assert answers(client, again) == {"heart attack": "C2"}
        (here,) = client.post("/learn", json={"corrections": [{**mention, "kb_id": "C3"}]}).json()["changed"]
        assert (here["always"], here["decides"], here["n_agreeing"], here["n_corrections"]) == (False, "here", 1, 1)
        assert (here["rival"], here["rival_name"], here["n_rival"]) == ("C2", "heart attack", 3)
        assert answers(client)["heart attack"] == "C3" and answers(client, again) == {"heart attack": "C2"}
        given = [{**mention, "kb_id": "C3", "always": True}]
        (always,) = client.post("/learn", json={"corrections": given}).json()["learned"]
        assert (always["always"], always["decides"], always["rival"]) == (True, "always", "C2")
        assert answers(client, again) == {"heart attack": "C3"}
        why = client.post("/explain", json={"text": again, "start": 8, "end": 20}).json()
        assert why["learned"] == always and 0.79 < why["probability"] < 0.81
        assert client.post("/learn", json={"corrections": [{**given[0], "always": "yes"}]}).status_code == 422


def test_saved_corrections_and_those_of_teach(own, tmp_path):
    write_jsonl(tmp_path / "fixes.jsonl", [ZEBRA_FISH])
    with serving(own, save=True) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        saved = client.post("/learn", json={"corrections": [{**MENTION, "kb_id": "C3"}]}).json()
        assert saved["saved"] is True and len(saved["learned"]) == 1
        assert {one.text: one.kb_id_ for one in spacy.load(own)(TEXT).ents}["heart attack"] == "C3"
        # meanwhile another process teaches: the next change keeps what it taught
        assert run("teach", own, tmp_path / "fixes.jsonl").code == 0
        third = client.post("/learn", json={"corrections": [{**MENTION, "kb_id": "C4"}]}).json()
        assert [one["after"] for one in third["learned"]] == ["C1", "C4"]
        assert answers(client)["zebra fish"] == "C1" and answers(client)["heart attack"] == "C4"
        assert len(run("teach", own, "--list", "--json").json["learned"]) == 2
        client.post("/unlearn", json={"ids": [3]}).raise_for_status()
        assert answers(client)["heart attack"] == "C3"  # the third one had replaced the first one
        client.post("/unlearn", json={"ids": [1, 2]}).raise_for_status()
        assert answers(client)["heart attack"] == "C2" and client.get("/learned").json()["learned"] == []
    assert run("verify", own).code == 0


def test_corrections_that_cannot_be_saved(own, monkeypatch):
    from spacy_pel.errors import PelError
    from spacy_pel.serving import service

    def full(*args, **kwargs):
        raise PelError("[PEL-E002] the disk is full")

    monkeypatch.setattr(service, "save_memory", full)
    with serving(own, save=True) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        response = client.post("/learn", json={"corrections": [{**MENTION, "kb_id": "C3"}]})
        assert response.status_code == 507 and "full" in response.json()["detail"]
        assert answers(client)["heart attack"] == "C2" and client.get("/learned").json()["learned"] == []


def test_two_changes_at_once(own, tmp_path, monkeypatch):
    """Another process that saves between reading and writing wins, and the model is as on disk."""
    from spacy_pel.serving import service

    write_jsonl(tmp_path / "fixes.jsonl", [ZEBRA_FISH])
    real = service.save_memory

    def save_second(*args, **kwargs):
        assert run("teach", own, tmp_path / "fixes.jsonl").code == 0
        real(*args, **kwargs)

    with serving(own, save=True) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        monkeypatch.setattr(service, "save_memory", save_second)
        response = client.post("/learn", json={"corrections": [{**MENTION, "kb_id": NIL}]})
        assert response.status_code == 409 and "E735" in response.json()["detail"]
        assert answers(client)["heart attack"] == "C2" and answers(client)["zebra fish"] == "C1"
        assert [one["after"] for one in client.get("/learned").json()["learned"]] == ["C1"]
        monkeypatch.setattr(service, "save_memory", real)
        client.post("/learn", json={"corrections": [{**MENTION, "kb_id": NIL}]}).raise_for_status()
        assert answers(client)["heart attack"] == NIL


@pytest.mark.parametrize(
    "correction, code",
    [
        ({**MENTION, "kb_id": "C99"}, "E530"),
        ({**MENTION, "kb_id": "C1", "end": 999}, "E531"),
        ({**MENTION, "kb_id": "C1", "mention": "heart attach"}, "E011"),
        ({"text": "x" * 301, "start": 0, "end": 1, "kb_id": "C1"}, "E726"),
    ],
)
def test_wrong_corrections_change_nothing(client, correction, code):
    good = {**MENTION, "kb_id": NIL}
    response = client.post("/learn", json={"corrections": [good, correction]})
    assert response.status_code in (400, 413) and f"PEL-{code}" in response.json()["detail"]
    assert client.get("/learned").json()["learned"] == []


# -- the command -------------------------------------------------------------------------------


def test_the_command_fails_in_one_line(server, pipeline, tmp_path, monkeypatch):
    assert refused("E721", "serve", pipeline, "--port", server.port).count("\n") == 1
    refused("E721", "serve", pipeline, "--host", "host.invalid")
    refused("E002", "serve", tmp_path, "--port", 0)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert 'pip install "spacy-pel[serve]"' in refused("E720", "serve", pipeline)

"""A list of terms that a curator decides on: by the API, and by keyboard in a real browser."""

import csv
import shutil
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import spacy
from cli.conftest import done, refused, run

from spacy_pel.engines.output import only_writer
from spacy_pel.errors import PelError
from spacy_pel.serving.guard import RequestError
from spacy_pel.util import read_jsonl, write_jsonl

from .conftest import EVIL, review_of, serving, wait_until

pytestmark = pytest.mark.slow

NAMES = ["aspirin", "myocardial infarct", "headaches", "zebra fish", "left kidney stone", EVIL, "kidney", "cold"]
TERMS = [*NAMES, *(f"{name} {i}" for i in range(4) for name in ("aspirin acid", "heart", "quantum dot"))]
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture
def terms(tmp_path):
    """Twenty terms, and a row without one."""
    with (tmp_path / "terms.csv").open("w", newline="") as file:
        rows = [[f"t{number}", term, "ward 1"] for number, term in enumerate([*TERMS, ""])]
        csv.writer(file).writerows([["id", "term", "note"], *rows])
    return tmp_path / "terms.csv"


@pytest.fixture
def call(pipeline, terms):
    with serving(pipeline, terms=terms) as running, httpx.Client(base_url=running.url, timeout=60) as client:

        def answer(path="/terms", status=200, **body):
            response = client.post(path, json=body) if body else client.get(path)
            assert response.status_code == status, response.text
            return response

        yield answer


def mapped(pipeline, terms, name, *options):
    output = terms.with_name(name)
    done("map", pipeline, terms, output, "--top-k", 9, *options)
    return output.read_bytes()


def test_the_least_sure_come_first(call):
    page = call().json()
    assert (page["terms"], page["reviewed"], page["next"], page["file"]) == (20, 0, 0, "terms.csv.reviewed.jsonl")
    probabilities = [row["probability"] for row in page["rows"]]
    assert len(probabilities) == 20 and probabilities == sorted(probabilities) and len(set(probabilities)) > 5
    listed = call("/terms?order=list&start=2&n=3").json()["rows"]
    assert [(row["row"], row["term"]) for row in listed] == [(f"t{number}", TERMS[number]) for number in (2, 3, 4)]
    assert listed[0]["id"] == "C3" and listed[0]["meta"] == {"note": "ward 1"} and listed[0]["decision"] is None
    assert listed[2]["relation"] == "broader" and "MESH:D5/1" not in [one["id"] for one in listed[2]["alternatives"]]
    call("/terms?n=101", 422)
    call("/terms?order=other", 422)


def test_decisions_are_saved_taken_back_and_exported(call, pipeline, terms, tmp_path):
    file = tmp_path / "terms.csv.reviewed.jsonl"
    for number, key in ((4, "MESH:D5/1"), (0, "C2"), (3, "NIL"), (1, "C2"), (0, "C1")):
        (row,) = call(number=number, kb_id=key).json()["rows"]
        assert row["number"] == number and row["decision"]["id"] == key
    relations = {one["term"]: one["relation"] for one in read_jsonl(file)}
    assert relations == {TERMS[4]: "broader", TERMS[3]: None, TERMS[1]: "exact", TERMS[0]: "exact"}
    assert call(number=1, kb_id=None).json()["reviewed"] == 3 and TERMS[1] not in file.read_text()
    for number, key in ((0, "C99"), (20, "C1"), (21, "C1"), (-1, "C1")):  # 20 has no text
        call(status=404, number=number, kb_id=key)
    call(status=422, number="1", kb_id="C1")
    assert len(list(read_jsonl(file))) == 3 and call("/terms?order=list").json()["next"] == 1

    wait_until(lambda: call("/terms?n=0").json()["mapped"] == 20)
    for to, name in (("csv", "out.csv"), ("jsonl", "out.jsonl"), ("sssom", "out.sssom.tsv")):
        assert call(f"/terms/export?format={to}").content == mapped(pipeline, terms, name, "--reviewed", file)
    rows = {row["term"]: row for row in read_jsonl(tmp_path / "out.jsonl")}
    assert [rows[TERMS[0]][key] for key in ("id", "probability", "rests_on")] == ["C1", 1.0, "review"]
    assert [rows[TERMS[3]][key] for key in ("id", "name", "rests_on")] == ["NIL", None, "review"]
    assert rows[TERMS[2]]["rests_on"] != "review" and rows[TERMS[2]]["probability"] < 1
    lines = (tmp_path / "out.sssom.tsv").read_text().splitlines()
    by_hand = [line for line in lines if "semapv:ManualMappingCuration" in line]
    assert len(by_hand) == 3 and sum("skos:broadMatch" in line for line in by_hand) == 1

    taught = shutil.copytree(pipeline, tmp_path / "taught")
    assert done("teach", taught, file, "--json").json["learned"] == 3


def test_a_list_goes_on_after_a_restart(pipeline, terms, tmp_path, caplog):
    file = tmp_path / "terms.csv.reviewed.jsonl"
    gone = [{"id": "t1", "term": TERMS[1], "kb_id": "C99"}, {"id": "x", "term": "no row", "kb_id": "C1"}]
    write_jsonl(file, [*gone, {"id": "t0", "term": TERMS[0], "kb_id": "C2"}])
    review = review_of(spacy.load(pipeline), terms)
    assert "2 of 3 decisions are left out" in caplog.text
    assert review.page(review.ordered("list"), [0])["rows"][0]["decision"] == {"id": "C2", "name": "heart attack"}
    review.decide(2, "NIL")
    assert [one["id"] for one in read_jsonl(file)] == ["t1", "x", "t0", "t2"]
    done("map", pipeline, terms, tmp_path / "out.jsonl", "--reviewed", file, "--n-process", 2)
    reviewed = [row["row"] for row in read_jsonl(tmp_path / "out.jsonl") if row["rests_on"] == "review"]
    assert reviewed == ["t0", "t2"] and caplog.text.count("2 of 4 decisions") == 1
    review.decide(1, "C1")
    assert [one["id"] for one in read_jsonl(file)] == ["x", "t0", "t2", "t1"], "the decision takes the place of the old"
    write_jsonl(file, [{"id": "x", "term": "by hand", "kb_id": "C1"}])  # while the server runs
    with pytest.raises(RequestError, match="changed by another process") as refusal:
        review.decide(2, "C1")
    assert refusal.value.status == 409 and "by hand" in file.read_text()
    write_jsonl(file, [{"id": 1, "term": "a", "kb_id": "C1"}])
    refused("E689", "map", pipeline, terms, tmp_path / "new.csv", "--reviewed", file)
    refused("E689", "serve", pipeline, "--terms", terms, "--port", 0)
    for option in ("--term-column", "--id-column", "--type-column", "--context-column"):
        assert f"--terms with {option}, got none" in refused("E602", "serve", pipeline, option, "x", "--port", 0)
    folder = tmp_path / "none"
    assert "no such file" in run("serve", pipeline, "--terms", folder / "terms.csv", "--port", 0).err
    assert "none.jsonl" in run("map", pipeline, terms, tmp_path / "new.csv", "--reviewed", f"{folder}.jsonl").err
    assert not folder.exists()


def test_a_page_needs_only_its_own_rows(pipeline, tmp_path):
    write_jsonl(tmp_path / "terms.jsonl", ({"term": f"pain {number}", "kind": "T047"} for number in range(5000)))
    review = review_of(spacy.load(pipeline), tmp_path / "terms.jsonl", type_column="kind")
    assert len(review.unmapped()) < 5000 and review.page(review.ordered("unsure"), [])["mapped"] == 1
    shown = review.ordered("list")[:50]
    review.map(review.unmapped(shown))
    page = review.page(review.ordered("unsure"), shown)
    assert page["mapped"] == 51 and page["terms"] == 5000 and all(row["probability"] for row in page["rows"])
    with pytest.raises(RequestError, match="51 of 5,000") as refusal:
        review.export("csv")
    assert refusal.value.status == 409
    write_jsonl(tmp_path / "terms.jsonl", [{"term": "pain", "kind": "T047"}, {"term": "pain", "kind": "colour"}])
    with pytest.raises(PelError, match="E537"):
        review_of(spacy.load(pipeline), tmp_path / "terms.jsonl", type_column="kind")


def test_a_term_on_which_the_pipeline_fails_is_left_to_decide(pipeline, terms, tmp_path, caplog):
    nlp = spacy.load(pipeline)
    nlp.add_pipe("pel_test_fails", first=True)
    nlp.to_disk(tmp_path / "fails")
    with serving(tmp_path / "fails", terms=terms) as running, httpx.Client(base_url=running.url, timeout=60) as client:
        wait_until(lambda: client.get("/terms?n=0").json()["mapped"] == 20)
        rows = client.get("/terms").json()["rows"]
        failed, others = rows[:4], rows[4:]
        assert {row["error"] for row in failed} == {"RuntimeError: too quantum"} and "quantum" in failed[0]["term"]
        assert not any("error" in row for row in others) and all(row["probability"] for row in others)
        assert caplog.text.count("failed on the term 'quantum dot") == 4 and "too quantum" in caplog.text
        refusal = client.get("/terms/export")
        assert refusal.status_code == 409 and "failed on 4" in refusal.json()["detail"]
        for row in failed:
            client.post("/terms", json={"number": row["number"], "kb_id": "NIL"})
        assert client.get("/terms/export").text.count(",review,") == 4
    (tmp_path / "typed.jsonl").write_text('{"term": "cold"}\n{"term": "quantum"}\n')
    review = review_of(spacy.load(tmp_path / "fails"), tmp_path / "typed.jsonl")
    assert "error" in review.page([1], [1])["rows"][0], "a row of each type is mapped before the server starts"


def test_one_server_for_a_list(pipeline, terms):
    with only_writer(terms.with_name("terms.csv.reviewing")), ThreadPoolExecutor(1) as other:
        other.submit(refused, "E669", "serve", pipeline, "--terms", terms, "--port", 0).result(60)


def test_without_a_list_there_is_no_page_for_it(client):
    assert client.get("/health").json()["terms"] is False
    for path in ("/terms", "/review", "/terms/export"):
        assert client.get(path).status_code == 404


@pytest.fixture
def browser(tmp_path):
    """Chromium; at the end nothing was logged as an error."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install selenium")
    if not (CHROMIUM and DRIVER):
        pytest.skip("needs selenium with Debian's chromium and chromium-driver; nothing is downloaded")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--window-size=1280,1000"):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": str(tmp_path / "downloads")})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    wrong = [one for one in driver.get_log("browser") if one["level"] == "SEVERE"]
    driver.quit()
    assert not wrong


def test_twenty_terms_by_keyboard(browser, pipeline, terms, tmp_path):
    def text(selector):
        script = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return browser.execute_script(script, selector)

    def press(key, n_reviewed):
        browser.switch_to.active_element.send_keys(key)
        wait_until(lambda: text("#progress").startswith(f"{n_reviewed} of 20 reviewed"))

    def saved():
        return [(one["id"], one["kb_id"]) for one in read_jsonl(tmp_path / "terms.csv.reviewed.jsonl")]

    with serving(pipeline, terms=terms) as running:
        rows = httpx.get(f"{running.url}/terms", timeout=60).json()["rows"]
        browser.get(f"{running.url}/review")
        wait_until(lambda: text("#progress") == "0 of 20 reviewed")
        shown = browser.find_elements("css selector", "#rows .name")
        assert [one.text for one in shown] == [row["term"] for row in rows]
        expected = []
        for number, row in enumerate(rows):
            wait_until(lambda row=row: text("#details h2") == row["term"])
            key = ["\ue007", "n", "2", "a", "1"][number % 5]  # \ue007 = Enter
            press(key, number + 1)
            answer = "NIL" if key == "n" else row["alternatives"][int(key) - 1]["id"] if key.isdigit() else row["id"]
            expected.append((row["row"], answer))
        assert browser.title == "tiny – spacy_pel" and len(browser.find_elements("css selector", "img")) == 1
        assert saved() == expected
        browser.switch_to.active_element.send_keys("kkn")  # decided again, and that is undone
        wait_until(lambda: saved()[-1] == (rows[17]["row"], "NIL"))
        wait_until(lambda: text("#details h2") == rows[18]["term"])
        browser.switch_to.active_element.send_keys("u")
        wait_until(lambda: saved()[-1] == expected[17])
        wait_until(lambda: text("#details h2") == rows[17]["term"])
        press("u", 19)
        assert text("#rows [aria-selected=true] .name") == rows[19]["term"]
        browser.switch_to.active_element.send_keys("/")
        browser.switch_to.active_element.send_keys("calculus")
        wait_until(lambda: "kidney stone" in text("#found"))
        browser.switch_to.active_element.send_keys("\ue007")
        wait_until(lambda: browser.switch_to.active_element.tag_name == "button")
        press("\ue007", 20)
        expected[19] = (rows[19]["row"], "MESH:D5/1")
        assert saved()[-1] == expected[19] and dict(saved()) == dict(expected)
        browser.switch_to.active_element.send_keys("kk")
        wait_until(lambda: text("#details h2") == rows[17]["term"])
        browser.find_element("css selector", "[data-format=csv]").click()
        exported = tmp_path / "downloads" / "terms.csv"
        wait_until(exported.exists)
        browser.refresh()
        wait_until(lambda: text("#progress") == "20 of 20 reviewed")
        browser.find_element("id", "list-order").click()
        wait_until(lambda: text("#rows .name") == TERMS[0])
        browser.find_element("link text", "Texts").click()
        wait_until(lambda: text("#review") == "Terms")
        browser.find_element("id", "review").click()
        wait_until(lambda: text("#progress") == "20 of 20 reviewed")
    content = mapped(pipeline, terms, "out.csv", "--reviewed", tmp_path / "terms.csv.reviewed.jsonl")
    assert exported.read_bytes() == content and content.count(b",review,") == 20

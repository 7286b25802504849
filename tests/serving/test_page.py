"""The page in a real browser: paste, link, open a mention, correct it, undo; by mouse and by keyboard."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from .conftest import EVIL, TEXT, serving

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(CHROMIUM).is_file(), reason="needs Chromium; nothing is downloaded"),
]
# to TEXT, with one correction
ANSWERS = {"aspirin": "C1", "heart attack": "MESH:D5/1", "headache": "C3", "zebra fish": "NIL"}
expect = playwright.expect
expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def page_server(pipeline):
    with serving(pipeline, max_chars=500) as running:
        yield running


@pytest.fixture
def open_page(browser, page_server):
    """Opens the page. At the end nothing was loaded from elsewhere, and no script failed."""
    contexts, wrong = [], []

    def open_one(**settings):
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda err: wrong.append(str(err)))
        page.on("console", lambda one: one.type == "error" and wrong.append(one.text))
        page.on("request", lambda one: one.url.startswith((page_server.url, "blob:")) or wrong.append(one.url))
        page.goto(page_server.url)
        expect(page.locator("#about")).to_have_text("tiny · 5 entities · not calibrated")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not wrong


def mention(page, text):
    return page.locator("#linked .mention", has_text=text).first


def link(page, text=TEXT):
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator("#status")).to_contain_text("mention")


def exported(page, kind, name):
    """The lines of the file."""
    with page.expect_download() as download:
        page.get_by_role("button", name=kind).click()
    assert download.value.suggested_filename == name
    return Path(download.value.path()).read_text(encoding="utf8").splitlines()


def test_paste_link_correct_undo(open_page):
    page = open_page()
    link(page)
    expect(page.locator("#status")).to_contain_text("5 mentions, 1 of them NIL")
    expect(page.locator("#linked")).to_have_text(TEXT)
    expect(page.locator(".legend li")).to_have_text(["Chemicals & Drugs", "Disorders", "no semantic group", "NIL"])
    expect(page.locator(".legend .key.CHEM")).to_have_css("border-bottom-color", "rgb(9, 101, 81)")
    expect(mention(page, "aspirin")).to_have_css("border-bottom-color", "rgb(9, 101, 81)")
    expect(mention(page, "zebra fish")).to_have_css("border-bottom-style", "dashed")
    found = mention(page, "heart attack")
    found.click()
    details = page.get_by_label("Details")
    expect(details.locator(".answer")).to_contain_text("heart attack")
    expect(details.locator(".gauge")).to_contain_text("threshold 0.500 of this mention")
    first = details.locator("details").first
    expect(first).to_contain_text("Nearest name")
    expect(first.locator(".about")).to_have_text("C2 Disease or Syndrome")
    expect(details.locator(".answer .chip")).to_have_text(["Disease or Syndrome", "DISEASE"])

    details.get_by_role("button", name="Correct").click()
    details.get_by_label("Search another entity by name").fill("calculus")
    details.get_by_role("button", name="kidney stone").click()
    details.get_by_label("Your name, for the log").fill("Ann")
    details.get_by_role("button", name="Learn").click()
    learned = "Learned: “heart attack” is kidney stone, in other texts, too. 1 mention"
    expect(page.locator("#status")).to_contain_text(learned)
    expect(found).to_have_attribute("aria-label", "heart attack: kidney stone MESH:D5/1, DISEASE")
    corrections = page.locator("#corrections li")
    expect(corrections).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert '"kb_id":"MESH:D5/1"' in Path(download.value.path()).read_text()
    assert {row["text"]: row["id"] for row in csv.DictReader(exported(page, "CSV", "links.csv"))} == ANSWERS
    (document,) = map(json.loads, exported(page, "JSON", "links.jsonl"))
    assert {one["text"]: one["kb_id"] for one in document["mentions"]} == ANSWERS and document["text"] == TEXT

    corrections.get_by_role("button", name="Undo").click()
    expect(page.locator("#status")).to_contain_text("Undone")
    expect(found).to_have_attribute("aria-label", "heart attack: heart attack C2, DISEASE")


def test_always(open_page):
    page = open_page()
    link(page)
    mention(page, "headache").click()
    details = page.get_by_label("Details")
    details.get_by_role("button", name="Correct").click()
    details.get_by_role("radio", name="NIL").check()
    details.get_by_label("Always").check()
    details.get_by_role("button", name="Learn").click()
    expect(page.locator("#status")).to_contain_text("Learned: “headache” is NIL, always. 1 mention")
    correction = page.locator("#corrections li").first
    expect(correction).to_contain_text("always · was Headache C3")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert json.loads(Path(download.value.path()).read_text().splitlines()[-1])["always"] is True
    link(page, "No headache.")
    told = "headache: NIL, not in the knowledge base, DISEASE"
    expect(mention(page, "headache")).to_have_attribute("aria-label", told)
    correction.get_by_role("button", name="Undo").click()
    expect(page.locator("#status")).to_contain_text("Undone")


def test_the_card_of_a_mention(open_page):
    page = open_page()
    link(page)
    mention(page, "aspirin").click()
    answer = page.locator("#details .answer")
    expect(answer.locator(".chip")).to_have_text(["Organic Chemical", "Pharmacologic Substance", "CHEMICAL"])
    expect(answer).to_contain_text("Relieves pain.")
    expect(answer).to_contain_text("Codes: RXNORM:1191 · own code")
    rxnorm = "https://mor.nlm.nih.gov/RxNav/search?searchBy=RXCUI&searchTerm=1191"
    expect(answer.get_by_role("link")).to_have_attribute("href", rxnorm)
    expect(page.locator("#details .candidates summary .about").first).to_contain_text("Organic Chemical")
    second = page.locator("#details details").nth(1)
    second.locator("summary").click()
    expect(second.locator(".entity .id")).to_have_text(second.get_attribute("data-id"))


def test_by_keyboard(open_page):
    page = open_page()
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.insert_text(TEXT)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#linked .mention")).to_have_count(5)
    mention(page, "aspirin").focus()
    page.keyboard.press("ArrowRight")
    expect(mention(page, "heart attack")).to_be_focused()
    page.keyboard.press("Enter")
    details = page.get_by_label("Details")
    expect(details).to_be_focused()
    page.keyboard.press("Tab")  # close
    page.keyboard.press("Tab")
    expect(details.get_by_role("button", name="Correct")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")  # from the first choice to the last one, NIL
    expect(details.get_by_role("radio", name="NIL")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Learned: “heart attack” is NIL")
    page.locator("#status").get_by_role("button", name="Undo").press("Enter")
    expect(page.locator("#status")).to_contain_text("Undone")
    page.keyboard.press("Escape")
    expect(mention(page, "heart attack")).to_be_focused()

    page.get_by_label("Search names in the knowledge base").focus()
    page.keyboard.type("infarc")
    expect(page.locator("#found button").first).to_contain_text("“myocardial infarction”")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(details.get_by_role("heading", name="heart attack")).to_be_visible()


def test_what_texts_and_names_hold_is_only_shown(open_page):
    page = open_page(viewport={"width": 375, "height": 700})
    text = f"{EVIL} A cold & <b> aspirin </b> 🧬 aspirin"
    link(page, text)
    expect(page.locator("#linked")).to_have_text(text)
    expect(page.locator("#linked .mention")).to_have_text(["cold", "aspirin", "aspirin"])
    mention(page, "cold").click()
    expect(page.locator("#details .answer .name")).to_have_text(f"cold {EVIL}")
    page.get_by_label("Search names").fill("cold")
    expect(page.locator("#found button").first).to_contain_text(EVIL)
    assert page.locator("img").count() == 1 and page.title() == "tiny – spacy_pel"
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1]


def test_files_errors_and_an_empty_text(open_page, tmp_path):
    page = open_page()
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator("#status")).to_have_text("Paste a text first.")
    (tmp_path / "note.txt").write_text("\ufeffA cold.", encoding="utf8")
    page.locator("#file").set_input_files(tmp_path / "note.txt")
    expect(page.locator("#linked .mention")).to_have_text(["cold"])
    (tmp_path / "long.txt").write_text("x" * 3000)
    page.locator("#file").set_input_files(tmp_path / "long.txt")
    expect(page.locator("#status.problem")).to_have_text("long.txt is too long: at most 500 characters.")
    page.get_by_label("Text", exact=True).fill("Nothing here.")
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator("#status")).to_have_text("No mention was found.")

"""The budget of the house: no room, and no mention's way through the files, grows beyond ``sizes.toml``."""

import sys
from itertools import groupby
from pathlib import Path

import pytest
import spacy

import spacy_pel
from benchmarks.code_lines import count_by_file, count_by_room

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(spacy_pel.__file__).parent
REPOSITORY = Path(__file__).parents[1]
SIZES = tomllib.loads((REPOSITORY / "sizes.toml").read_text(encoding="utf8"))
WING = "training"
LEAST_LINES = 40  # of a file, unless it registers a part
TEXT = "Tobramycin was given to patients with cystic fibrosis (CF). CF was severe."


@pytest.fixture(scope="module")
def by_file():
    """File of the package -> code lines."""
    return count_by_file(PACKAGE)


@pytest.fixture(scope="module")
def rooms(by_file):
    """Room -> code lines, files."""
    return count_by_room(by_file, PACKAGE, 1)


def test_every_room_keeps_to_its_budget(rooms):
    budget = {room: (of_room["code_lines"], of_room["files"]) for room, of_room in SIZES["rooms"].items()}
    assert rooms.keys() == budget.keys()
    above = {
        room: f"{lines} code lines in {files} files, budget {budget[room]}"
        for room, (lines, files) in rooms.items()
        if lines > budget[room][0] or files > budget[room][1]
    }
    assert not above


def test_the_package_keeps_to_its_budget(rooms):
    assert sum(lines for lines, _ in rooms.values()) <= SIZES["package"]["code_lines"]
    assert sum(files for _, files in rooms.values()) <= SIZES["package"]["files"]
    assert sum(lines for room, (lines, _) in rooms.items() if room != WING) <= SIZES["package"]["code_lines_that_link"]


def test_the_tests_keep_to_their_budget():
    assert sum(count_by_file(REPOSITORY / "tests").values()) <= SIZES["tests"]["code_lines"]


def test_few_files_are_thin(by_file):
    thin = [
        path.relative_to(PACKAGE).as_posix()
        for path, n in by_file.items()
        if n < LEAST_LINES and not path.stem.startswith("__") and path.parent != PACKAGE
        if "@registry." not in path.read_text(encoding="utf8")
    ]
    assert len(thin) <= SIZES["package"]["thin_files"], thin


def test_a_mention_takes_a_short_way():
    """Files, rooms and moves between files while ``nlp(text)`` runs; a move is a call or a return."""
    nlp = spacy.load(REPOSITORY / "assets" / "pel_medmentions")
    nlp(TEXT)  # what is read once is read now
    stack: list[str] = []
    route: list[str] = []

    def watch(frame, event, arg):
        path = Path(frame.f_code.co_filename)
        if PACKAGE not in path.parents:
            return
        if event == "call":
            stack.append(path.relative_to(PACKAGE).as_posix())
            route.append(stack[-1])
        elif event == "return" and stack:
            stack.pop()
            route.extend(stack[-1:])

    sys.setprofile(watch)
    try:
        doc = nlp(TEXT)
    finally:
        sys.setprofile(None)
    assert [ent.text for ent in doc.ents if ent.kb_id_], "nothing was linked"
    files = set(route)
    way = {
        "files": len(files),
        "rooms": len({file.split("/")[0] for file in files}),
        "moves": sum(1 for _ in groupby(route)) - 1,
    }
    assert all(way[what] <= most for what, most in SIZES["mention"].items()), (way, sorted(files))

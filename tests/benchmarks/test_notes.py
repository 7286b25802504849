"""The benchmark of notes, and its lines."""

from itertools import islice
from pathlib import Path

import pytest
import spacy

from benchmarks.notes import judge, made_up_notes, measure, parse, read_notes

PIPELINE = Path(__file__).parents[2] / "assets" / "pel_medmentions"


def test_marks():
    note = parse(r"PMH:\n{?severe {asthma}}, {?on} {home oxygen}", "headings")
    assert note.kind == "headings" and note.text == "PMH:\nsevere asthma, on home oxygen"
    assert [[note.text[slice(*span)] for span in mention] for mention in note.mentions] == [
        ["asthma", "severe asthma"],
        ["home oxygen", "home oxygen"],
    ]
    assert [note.text[slice(*span)] for span in note.optional] == ["severe asthma", "on"]
    for wrong in ("{asthma", "asthma}"):
        with pytest.raises(ValueError, match="Expected"):
            parse(wrong)


@pytest.mark.parametrize(
    "found, right, wrong, missed",
    [
        (["asthma", "cough"], 2, 0, 0),
        (["severe asthma", "cough"], 2, 0, 0),
        (["severe", "cough"], 1, 0, 1),  # optional
        (["severe asthma and cough"], 0, 1, 2),
        (["asthma and", "and", "cough"], 1, 2, 1),
        (["asthma", "cough", "now"], 2, 0, 0),
        ([], 0, 0, 2),
    ],
)
def test_what_is_right(found, right, wrong, missed):
    note = parse("{?severe {asthma}} and {cough} {?now}")
    spans = [(note.text.index(one), note.text.index(one) + len(one)) for one in found]
    assert tuple(map(len, judge(note, spans))) == (right, wrong, missed)


def test_the_lines():
    notes = read_notes()
    assert len(notes) >= 200 and len({note.text for note in notes}) == len(notes)
    assert all(note.mentions and note.text == note.text.strip(" ") for note in notes)
    for note in notes:
        assert all(note.text[slice(*core)].strip() == note.text[slice(*core)] != "" for core, _ in note.mentions)


def test_made_up_notes_are_all_different():
    names = [f"name {number}" for number in range(2000)]
    notes = list(islice(made_up_notes(names), 400))
    assert len(set(notes)) == 400 and notes[:5] == list(islice(made_up_notes(names), 5))
    assert list(islice(made_up_notes(names, seed=1), 5)) != notes[:5]
    counts = sorted(("\n".join(notes).count(f"{name}") for name in names), reverse=True)
    assert counts[0] > 50 and counts[-1] == 0, "some names come often, others never"


@pytest.mark.slow
def test_the_default_pipeline_reads_notes():
    if not (PIPELINE / "config.cfg").is_file():
        pytest.skip("needs the default pipeline")
    nlp = spacy.load(PIPELINE, exclude=["proxy_entity_linker"])
    outcomes = [outcome for _, outcome in measure(nlp, read_notes())]
    right, wrong, missed = (sum(map(len, column)) for column in zip(*outcomes, strict=True))
    assert right / (right + wrong) > 0.8 and right / (right + missed) > 0.8

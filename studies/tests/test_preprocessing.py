"""The contract that every registered preprocessor keeps, and what is special about each.

A new one is tested by being registered; a setting without a default needs a line here.
"""

import pytest

from spacy_pel.corpora import read_corpus, to_record, write_corpus
from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.training.corpora.restore import restored
from spacy_pel.training.offset_map import Original
from spacy_pel.training.preprocessing import preprocess
from spacy_pel.types import Document, Mention

pytest.importorskip("scispacy")
NAMES = sorted(registry.parts("pel_preprocessors"))
TEXT = (
    "İzmir: Spinal and bulbar muscular atrophy (SBMA) is caused by the androgen receptor (AR). "
    "SBMA is slow. Nothing is said here. AR-V7 binds AR genes in SBMA; The End"
)
SURFACES = "İzmir|Spinal and bulbar muscular atrophy|atrophy|SBMA|androgen receptor|AR|AR-V7|AR genes".split("|")


def document(text=TEXT, surfaces=SURFACES, id="d1"):
    mentions = []
    for number, surface in enumerate(surfaces):
        start = text.find(surface)
        while start >= 0:
            mentions.append(Mention(start, start + len(surface), "X", (f"C{number}",)))
            start = text.find(surface, start + 1)
    return Document(id, text, sorted(mentions, key=lambda m: (m.start, -m.end)), {"journal": "J"})


def make(name, **settings):
    return registry.resolve_short("pel_preprocessors", name)(**settings)


def surfaces(one):
    return [one.text[m.start : m.end] for m in one.mentions]


@pytest.fixture(params=[*NAMES, ",".join(NAMES), ",".join(NAMES[::-1])])
def steps(request, tmp_path):
    reference = tmp_path / "reference.jsonl"
    write_corpus(reference, [document(surfaces=["atrophy"])])
    settings = {"agree": {"reference": reference}}
    return [make(name, **settings.get(name, {})) for name in request.param.split(",")]


def test_each_mention_leads_back_to_itself(steps, tmp_path):
    source = document()
    before = (source.text, list(source.mentions), dict(source.meta))
    made = list(preprocess([source], steps))
    assert (source.text, source.mentions, source.meta) == before
    write_corpus(tmp_path / "corpus.jsonl", made)
    again = list(read_corpus(tmp_path / "corpus.jsonl"))
    assert again == made and len({one.id for one in made}) == len(made)
    known = {(m.start, m.end, m.label, m.ids) for m in source.mentions}
    seen = [
        (*Original.of(one).offsets.original_span(m.start, m.end), m.label, m.ids) for one in again for m in one.mentions
    ]
    assert set(seen) <= known and len(set(seen)) == len(seen) >= 5
    assert {one.id for one in again} == {"d1"} and all(one.meta["journal"] == "J" for one in again)
    assert all(step.report for step in steps)


def test_the_same_twice_and_on_nothing(steps):
    first = list(preprocess([document()], steps))
    assert list(preprocess([document()], steps)) == first
    for text in ("", " ", "No mention at all."):
        assert all(not one.mentions for one in preprocess([Document("e", text)], steps))


def test_expand_abbreviations():
    step = make("expandabbreviations")
    (made,) = step(document())
    assert made.text == (
        "İzmir: Spinal and bulbar muscular atrophy (Spinal and bulbar muscular atrophy) is caused by the "
        "androgen receptor (androgen receptor). Spinal and bulbar muscular atrophy is slow. Nothing is said "
        "here. androgen receptor-V7 binds androgen receptor genes in Spinal and bulbar muscular atrophy; "
        "The End"
    )
    assert "androgen receptor genes" in surfaces(made) and "SBMA" not in surfaces(made)
    assert step.report == {"abbreviations": 2, "abbreviations_expanded": 6, "abbreviations_cut": 0}


def test_the_title_keeps_its_end():
    title = "SBMA after spinal and bulbar muscular atrophy (SBMA)."
    source = Document("d", f"{title} SBMA is slow.", meta={"title_length": len(title)})
    (made,) = make("expandabbreviations")(source)
    assert made.text[made.meta["title_length"] :].endswith(" spinal and bulbar muscular atrophy is slow.")
    assert made.text[: made.meta["title_length"]].endswith("atrophy).")


def test_an_abbreviation_in_which_a_mention_ends_stays():
    source = document("Androgen receptor (AR). The AR is here.", [])
    source.mentions = [Mention(28, 29, "X", ("C1",))]  # the A of "AR"
    step = make("expandabbreviations")
    (made,) = step(source)
    assert made.text == "Androgen receptor (Androgen receptor). The AR is here." and surfaces(made) == ["A"]
    assert step.report["abbreviations_cut"] == 1


def test_lower_case():
    (made,) = make("lowercase")(document())
    assert made.text == TEXT.lower() and len(made.text) == len(TEXT) + 1  # the first letter becomes two
    assert surfaces(made) == [TEXT[m.start : m.end].lower() for m in document().mentions]
    assert Original.of(made).offsets.original_span(0, 6) == (0, 5)


def test_longest_mentions():
    step = make("longestmentions")
    (made,) = step(document())
    assert surfaces(made) == [
        *("İzmir", "Spinal and bulbar muscular atrophy", "SBMA", "androgen receptor", "AR"),
        *("SBMA", "AR-V7", "AR genes", "SBMA"),
    ]
    assert step.report["overlapping_dropped"] == 3 and "original" not in made.meta


def test_parts_of_discontinuous_mentions_move_along():
    source = document("Breast (and AR) cancer. Androgen receptor (AR) x.", ["Breast (and AR) cancer"])
    source.meta["discontinuous"] = [{"start": 0, "end": 22, "spans": [[0, 6], [16, 22]]}]
    (made,) = make("expandabbreviations")(source)
    (entry,) = made.meta["discontinuous"]
    assert (entry["start"], entry["end"]) == (made.mentions[0].start, made.mentions[0].end)
    assert [made.text[slice(*span)] for span in entry["spans"]] == ["Breast", "cancer"]


@pytest.mark.parametrize("given", [3, {"id": "x"}, {"id": "x", "offsets": [[2, 0]], "text_hash": "0"}])
def test_meta_that_is_not_ours(given):
    source = document()
    source.meta["original"] = given
    with pytest.raises(PelError, match="E238"):
        make("lowercase")(source)


def test_restored_lines(tmp_path):
    source = document()
    made = list(preprocess([source], [make(name) for name in ("expandabbreviations", "lowercase")]))
    records = [to_record(one) for one in made]
    for record in records:
        for mention in record["mentions"]:
            mention["score"] = 0.5
    (back,) = restored(records, {"d1": source}, tmp_path)
    assert {(m.pop("score"),) for m in back["mentions"]} == {(0.5,)}
    assert back == to_record(source)
    with pytest.raises(PelError, match="E240"):
        list(restored(records, {}, tmp_path))
    records[0]["meta"]["original"]["offsets"][0][1] += 1000
    with pytest.raises(PelError, match="E238|E241"):
        list(restored(records[:1], {"d1": source}, tmp_path))

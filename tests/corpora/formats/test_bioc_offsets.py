"""BioC files whose offsets count from the document, from the passage, or in bytes."""

import json

import pytest

from spacy_pel.corpora.formats.bioc import BiocCorpus, _escaped
from spacy_pel.errors import PelError

PASSAGES = ["β-blocker and α-toxin.", "Café: asthma, fébrile rash."]
MENTIONS = [["β-blocker", "α-toxin"], ["asthma", "fébrile rash"]]


def n_units(text, in_bytes):
    return len(text.encode("utf8")) if in_bytes else len(text)


def record(*, from_passage=False, in_bytes=False, sentences=False, name="1"):
    """A document whose offsets have this base."""
    offset, passages = 0, []
    for text, surfaces in zip(PASSAGES, MENTIONS, strict=True):
        annotations = []
        for surface in surfaces:
            start = n_units(text[: text.index(surface)], in_bytes) + (0 if from_passage else offset)
            location = {"offset": start, "length": n_units(surface, in_bytes)}
            infons = {"identifier": surface.upper()}
            annotations.append({"text": surface, "infons": infons, "locations": [location]})
        passage = {"offset": offset, "text": text, "annotations": annotations}
        if sentences:
            beside = {"text": text, "annotations": []} if sentences == "beside the text" else {}
            passage = {"offset": offset, **beside, "sentences": [passage]}
        passages.append(passage)
        offset += n_units(text, in_bytes) + 1
    return {"id": name, "passages": passages}


def as_xml(records):
    def element(piece, name):
        inner = "".join(element(sentence, "sentence") for sentence in piece.get("sentences", []))
        if "text" in piece:
            inner += f"<text>{_escaped(piece['text'])}</text>"
        for one in piece.get("annotations", []):
            infons = "".join(f'<infon key="{k}">{v}</infon>' for k, v in one["infons"].items())
            places = "".join(f'<location offset="{p["offset"]}" length="{p["length"]}"/>' for p in one["locations"])
            inner += f"<annotation>{infons}{places}<text>{one['text']}</text></annotation>"
        return f"<{name}><offset>{piece['offset']}</offset>{inner}</{name}>"

    documents = (
        f"<document><id>{one['id']}</id>{''.join(element(p, 'passage') for p in one['passages'])}</document>"
        for one in records
    )
    return f"<collection>{''.join(documents)}</collection>"


def read(tmp_path, *records, kind="json", **settings):
    path = tmp_path / f"x.{kind}"
    content = as_xml(records) if kind == "xml" else json.dumps({"documents": records})
    path.write_text(content, encoding="utf8")
    reader = BiocCorpus(**settings)
    return list(reader([path])), reader.report


def surfaces(document):
    return [document.text[one.start : one.end] for one in document.mentions]


@pytest.mark.parametrize("kind", ["json", "xml"])
@pytest.mark.parametrize("sentences", [False, True, "beside the text"])
@pytest.mark.parametrize("in_bytes", [False, True])
@pytest.mark.parametrize("from_passage", [False, True])
def test_the_base_of_the_file(tmp_path, caplog, kind, sentences, in_bytes, from_passage):
    base = {"from_passage": from_passage, "in_bytes": in_bytes}
    records = [record(**base, sentences=sentences, name=name) for name in "12"]
    documents, report = read(tmp_path, *records, kind=kind, strict=True)
    for document in documents:
        assert document.text == " ".join(PASSAGES)
        assert surfaces(document) == MENTIONS[0] + MENTIONS[1]
    said = [message.getMessage() for message in caplog.records]
    if from_passage or in_bytes:
        unit, start = "UTF-8 bytes" if in_bytes else "characters", "passage" if from_passage else "document"
        assert len(said) == 1 and f"W251] {tmp_path}" in said[0]
        assert f"{unit} from the start of the {start}" in said[0]
        assert report[f"files_with_offsets_as_{unit}_from_the_start_of_the_{start}".replace(" ", "_")] == 1
    else:
        assert said == []


def test_several_bases_fit(tmp_path, caplog):
    one = {"text": "asthma", "infons": {}, "locations": [{"offset": 0, "length": 6}]}
    read(tmp_path, {"id": "1", "passages": [{"offset": 0, "text": "asthma", "annotations": [one]}]})
    assert caplog.records == []


def test_no_base_fits_all(tmp_path):
    with pytest.raises(PelError) as caught:
        read(tmp_path, record(), record(from_passage=True, name="2"))
    for words in ("E251", "document 2", "'asthma'", "6 do as characters from the start of the passage", "UTF-8 bytes"):
        assert words in str(caught.value)


def test_another_string_does_not_hide_the_base(tmp_path):
    wrong, spelled = record(from_passage=True), record(in_bytes=True)
    wrong["passages"][1]["annotations"][0]["text"] = "gout"
    spelled["passages"][0]["annotations"][1]["text"] = "a-toxin"
    [document], report = read(tmp_path, wrong)
    assert surfaces(document) == ["β-blocker", "α-toxin", "fébrile rash"] and report["dropped"] == 1
    [document], report = read(tmp_path, spelled)
    assert surfaces(document) == MENTIONS[0] + MENTIONS[1] and report["normalised"] == 1


def test_annotations_of_the_document_parts_and_gaps(tmp_path):
    given = record()
    for passage in given["passages"][1:]:
        passage["offset"] += 5
        for one in passage["annotations"]:
            one["locations"][0]["offset"] += 5
    given["annotations"] = [annotation for passage in given["passages"] for annotation in passage.pop("annotations")]
    parts = [{"offset": 0, "length": 9}, {"offset": 34, "length": 6}]
    given["annotations"].append({"text": "β-blocker asthma", "infons": {}, "locations": parts})
    given["annotations"].append({"text": "asthma", "infons": {"identifier": "X"}, "locations": []})
    given["relations"] = [{"id": "R1"}]
    [document], report = read(tmp_path, given, strict=True)
    assert document.text == f"{PASSAGES[0]}      {PASSAGES[1]}"
    assert set(surfaces(document)) >= {*MENTIONS[0], *MENTIONS[1]}
    assert document.meta["discontinuous"] == [{"start": 0, "end": 40, "spans": [[0, 9], [34, 40]]}]
    assert (report["relations"], report["without_location"], report["without_id_infon"]) == (1, 1, 1)

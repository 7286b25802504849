"""Offsets of BioC: in passages, in sentences, in the document."""

import json

import pytest

from spacy_pel.corpora.formats.bioc import BiocCorpus, _escaped

PASSAGES = ["β-blocker and α-toxin.", "Café: asthma, fébrile rash."]
MENTIONS = [["β-blocker", "α-toxin"], ["asthma", "fébrile rash"]]


def record(*, sentences=False):
    """A document with annotations in its passages or sentences."""
    offset, passages = 0, []
    for text, surfaces in zip(PASSAGES, MENTIONS, strict=True):
        annotations = []
        for surface in surfaces:
            location = {"offset": offset + text.index(surface), "length": len(surface)}
            infons = {"identifier": surface.upper()}
            annotations.append({"text": surface, "infons": infons, "locations": [location]})
        passage = {"offset": offset, "text": text, "annotations": annotations}
        if sentences:
            beside = {"text": text, "annotations": []} if sentences == "beside the text" else {}
            passage = {"offset": offset, **beside, "sentences": [passage]}
        passages.append(passage)
        offset += len(text) + 1
    return {"id": "1", "passages": passages}


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
def test_passages_and_sentences(tmp_path, kind, sentences):
    [document], _ = read(tmp_path, record(sentences=sentences), kind=kind, strict=True)
    assert document.text == " ".join(PASSAGES)
    assert surfaces(document) == MENTIONS[0] + MENTIONS[1]


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

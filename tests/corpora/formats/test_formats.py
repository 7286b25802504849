"""What is particular to one format."""

import json
from pathlib import Path

import pytest

from spacy_pel.corpora.formats.bioc import BiocCorpus
from spacy_pel.corpora.formats.docbin import DocbinCorpus
from spacy_pel.corpora.formats.pubtator import PubtatorCorpus
from spacy_pel.errors import PelError
from spacy_pel.training.corpora.craft_corpus import CraftCorpus
from spacy_pel.training.corpora.gsc_corpus import GscCorpus
from spacy_pel.training.corpora.st21pv_corpus import St21pvCorpus
from spacy_pel.types import Mention

FIXTURES = Path(__file__).parents[2] / "fixtures" / "corpora"


def surfaces(document):
    return [document.text[mention.start : mention.end] for mention in document.mentions]


def test_pubtator_ids_and_marks():
    reader = PubtatorCorpus(strip_prefix="MESH:")
    first, second, third = reader([FIXTURES / "pubtator" / "tiny.txt"])
    by_text = dict(zip(surfaces(first), first.mentions, strict=True))
    assert first.text.startswith("Acetylsalicylate and Reye's syndrome Breast")
    assert by_text["Breast and ovarian cancer"].ids == ("D001943", "D010051")
    assert by_text["Breast and ovarian cancer"].composite
    assert by_text["β-thalassaemia"].ids == ("D017086", "C0005283")
    assert not by_text["β-thalassaemia"].composite
    assert by_text["xyzitis"].ids == ()
    assert second.mentions[0].composite and not second.mentions[1].composite  # by its type
    assert third.mentions[0].composite  # by the column with its parts
    assert reader.report["relations"] == 1


def test_st21pv_reads_like_text():
    document = next(iter(St21pvCorpus()([FIXTURES / "st21pv" / "tiny.jsonl"])))
    assert document.text == (
        "Glucose-Lowering by Acetylsalicylate (Acetylsalicylate) in Reye's syndrome. "
        "We count CD8+ T cells and IL-1β in naïve mice."
    )
    assert "CD8+ T cells" in surfaces(document)  # its sentence was cut in two


@pytest.mark.parametrize(
    "sentences",
    [
        None,
        [{"tokens": [5], "mentions": []}],
        *([{"tokens": ["a"], "mentions": [one]}] for one in ({"start": 0, "end": 2}, {"start": 5, "end": 6})),
    ],
)
def test_st21pv_bad_records_are_named(tmp_path, sentences):
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({"pmid": "1", "sentences": sentences}), encoding="utf8")
    with pytest.raises(PelError, match=r"PEL-E207.*bad\.jsonl, line 1"):
        list(St21pvCorpus()([path]))


def test_craft_filters_and_discontinuous_mentions():
    paths = sorted((FIXTURES / "craft").iterdir())
    first, second = CraftCorpus()(paths)
    place = surfaces(first).index("Breast and ovarian cancer")
    covering = first.mentions[place]
    [listed] = first.meta["discontinuous"]
    assert (listed["start"], listed["end"]) == (covering.start, covering.end)
    assert [first.text[start:end] for start, end in listed["spans"]] == ["Breast", "cancer"]
    assert second.meta == {"split": "test"}
    [chemical] = CraftCorpus(ontologies=["CHEBI"], part="train")(paths)
    assert surfaces(chemical) == ["Acetylsalicylate"] and chemical.meta == {"split": "train"}


def test_gsc_ids_and_missing_texts(tmp_path):
    folder = FIXTURES / "gsc" / "tiny"
    assert next(iter(GscCorpus()([folder]))).mentions[1].ids == ("HP:0100615",)
    (tmp_path / "Text").mkdir()
    (tmp_path / "Annotations").mkdir()
    (tmp_path / "Annotations" / "7").write_text("[0::3]\tHP_0000001 | The\n", encoding="utf8")
    with pytest.raises(PelError, match="a text named 7"):
        list(GscCorpus()([tmp_path]))
    (tmp_path / "Text" / "7").write_bytes(b"The\r\nThe end")
    (tmp_path / "Annotations" / "7").write_text("[5::8] HP_0000001 | The\n", encoding="utf8")
    [document] = GscCorpus()([tmp_path])
    assert document.mentions == [Mention(5, 8, "PHENOTYPE", ("HP:0000001",))]


def test_bioc_json_sentences_that_overlap_are_moved():
    reader = BiocCorpus(strip_prefix="CL:")
    [document] = reader([FIXTURES / "bioc" / "tiny.json"])
    assert document.text == "Short Naïve cells." and surfaces(document) == ["cells"]
    assert document.mentions[0].ids == ("0000000", "0000003")
    assert reader.report["moved_passages"] == 1


def test_bioc_json_lines_and_id_key(tmp_path):
    infons = {"identifier": "A", "NCBI Gene": "B", "type": "Gene"}
    annotation = {"infons": infons, "text": "p53", "locations": [{"offset": 0, "length": 3}]}
    record = {"id": 1, "passages": [{"offset": 0, "text": "p53 acts", "annotations": [annotation]}]}
    path = tmp_path / "lines.json"
    path.write_text(f"{json.dumps(record)}\n{json.dumps({**record, 'id': 2})}\n", encoding="utf8")
    first, second = BiocCorpus()([path])
    assert (first.id, second.id) == ("1", "2") and first.mentions[0].ids == ("A",)
    assert next(iter(BiocCorpus(id_key="ncbi_gene")([path]))).mentions[0].ids == ("B",)
    # PubMed Central sends a list of collections, others a list of documents, or a collection a line
    second_record = {**record, "id": 2}
    collections = [{"source": "PMC", "documents": [record]}, {"source": "PMC", "documents": [second_record]}]
    for data in (collections, [record, second_record]):
        path.write_text(json.dumps(data), encoding="utf8")
        assert list(BiocCorpus()([path])) == [first, second]
    path.write_text("\n".join(map(json.dumps, collections)), encoding="utf8")
    assert list(BiocCorpus()([path])) == [first, second]


def test_bioc_without_annotations_reads_what_is_wrong_with_them(tmp_path):
    wrong = {"infons": {}, "text": "p53", "locations": [{"offset": "x", "length": 3}]}
    record = {"id": 1, "passages": [{"offset": 0, "text": "p53 acts", "annotations": [wrong]}]}
    path = tmp_path / "A.JSON"
    path.write_text(json.dumps(record))
    with pytest.raises(PelError, match="E207"):
        list(BiocCorpus()([path]))
    [document] = BiocCorpus(annotations=False)([path])
    assert (document.text, document.mentions) == ("p53 acts", [])


def test_docbin_unlabelled_is_not_nil(tmp_path):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    doc = nlp("Fever and rash and pain")
    places = ((0, 5, "C1"), (10, 14, "NIL"), (19, 23, ""))
    doc.ents = [doc.char_span(start, end, label="X", kb_id=kb_id) for start, end, kb_id in places]
    doc.spans["sc"] = [doc.char_span(0, 14, label="Y", kb_id="C2")]
    path = tmp_path / "a.spacy"
    spacy.tokens.DocBin(docs=[doc], store_user_data=True).to_disk(path)
    reader = DocbinCorpus()
    [document] = reader([path])
    assert [(mention.start, mention.ids) for mention in document.mentions] == [(0, ("C1",)), (10, ())]
    assert document.id == "a-1" and reader.report["unlabelled"] == 1
    [document] = DocbinCorpus(unlabelled="nil")([path])
    assert [mention.ids for mention in document.mentions] == [("C1",), (), ()]
    [document] = DocbinCorpus(spans_key="sc")([path])
    assert document.mentions == [Mention(0, 14, "Y", ("C2",))]
    with pytest.raises(PelError, match="E213.*'xx_no'"):
        list(DocbinCorpus(lang="xx_no")([path]))

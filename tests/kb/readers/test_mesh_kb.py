"""The MeSH reader: TSV, XML, extra aliases and the history of ids, together and alone."""

import tracemalloc
from pathlib import Path

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb.readers.mesh_kb import MeshKB

MESH = Path(__file__).parents[2] / "fixtures" / "kb" / "mesh"


def read(*names, **settings):
    reader = MeshKB(**settings)
    return reader, {entity.concept_id: entity for entity in reader([MESH / name for name in names])}


def test_tsv_types_aliases_and_quotes():
    reader, kb = read("supplementary.tsv", "extra_aliases.tsv", "descriptors.tsv")
    assert list(kb)[:3] == ["D000241", "D001241", "D009369"]  # descriptors first
    assert kb["D000241"].types == ("D03", "D13")
    assert kb["C000002"].types == ("D03", "D13", "C04")  # of its mapped descriptors
    assert kb["C000002"].parents == ("D000241", "D009369") and kb["C000006"].parents == ()
    assert kb["C483025"].types == ("D03", "D13", "D02")
    assert kb["C000006"].types == ("SCR",)
    assert kb["D009369"].aliases == ("Tumors", "Benign Neoplasm", "Cancer")
    assert kb["C000002"].aliases == ("bevonium méthyl sulfate", "acabel")
    assert kb["C483025"].aliases == ("Dfy protein, mouse", "ID: 1 ims antigen", "CD234 protein, mouse")
    assert reader.report == {}
    _, alone = read("supplementary.tsv")
    assert {entity.types for entity in alone.values()} == {("SCR",)}


def test_xml_has_the_terms_of_all_concepts():
    reader, kb = read("supp2025.xml", "desc2025.xml")
    assert kb["D000700"].aliases == ("Example Analgesia", "Allodynia, Example")
    assert kb["D000700"].definition == "Relief of an example's pain."
    assert kb["D000700"].types == ("E03", "C23")
    assert kb["C000700"].types == ("E03", "C23")
    assert kb["C000700"].aliases == ("exämplol hydrochloride",)
    assert kb["D000703"].types == () and kb["D000703"].definition is None
    assert reader.source["version"] == "2025"


def test_parents_are_above_in_the_tree(tmp_path):
    rows = ["D1\tone\t\tC04.557.337|C04.588\t", "D2\ttwo\t\tC04|C04.557\t", "D3\tthree\t\tC04.557.337.428\t"]
    path = tmp_path / "d.tsv"
    path.write_text("\n".join(rows))
    assert {one.concept_id: one.parents for one in MeshKB()([path])} == {"D1": ("D2",), "D2": (), "D3": ("D1",)}


def test_xml_in_utf_16(tmp_path):
    text = (MESH / "desc2025.xml").read_text(encoding="utf8")
    declared = '<?xml version="1.0" encoding="UTF-16"?>' + text[text.index("?>") + 2 :]
    (tmp_path / "desc2025.xml").write_bytes(declared.encode("utf-16"))
    assert list(MeshKB()([tmp_path / "desc2025.xml"])) == list(MeshKB()([MESH / "desc2025.xml"]))


def test_history_gives_redirects_to_live_ids_only():
    reader, kb = read("descriptors.tsv", "history.yaml")
    assert reader.redirects == {"C999001": "D009369", "C999002": "D009369"}
    reader, _ = read("supplementary.tsv", "history.yaml", strict=True)
    assert reader.redirects == {} and reader.report == {"lost_redirect": 3}


def test_type_filter_reaches_supplementary_records():
    _, kb = read("descriptors.tsv", "supplementary.tsv", types=["C04"])
    assert list(kb) == ["D009369", "C000002"]


def test_alias_of_an_unknown_id_is_a_repair():
    reader, _ = read("descriptors.tsv", "extra_aliases.tsv")
    assert reader.report == {"alias_of_unknown_id": 1}
    with pytest.raises(PelError, match=r"extra_aliases\.tsv, line 3.*C000002"):
        read("descriptors.tsv", "extra_aliases.tsv", strict=True)
    # a filter makes no id unknown
    reader, _ = read("descriptors.tsv", "supplementary.tsv", "extra_aliases.tsv", id_prefix="C", strict=True)
    assert reader.report == {}


def test_xml_streams_with_lines_in_bounded_memory(tmp_path):
    lines = (MESH / "supp2025.xml").read_bytes().splitlines(keepends=True)
    path = tmp_path / "supp2025.xml"
    path.write_bytes(b"".join([*lines[:3], *lines[3:-1] * 1000, lines[-1]]))
    tracemalloc.start()
    places = [place for place, _ in MeshKB().read([path])]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(places) == 1000 and places[0].line < places[1].line <= 2 * len(lines)
    assert peak < 2_000_000  # the whole tree takes about 8 MB


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("desc2025.xml", "<?xml version='1.0'?>\n<DescriptorRecordSet>\n<a></b>\n", r"line 3.*mismatched"),
        ("desc2025.xml", "<?xml version='1.0'?>\n<DescriptorRecordSet>\n", "line 2"),
        ("d.tsv", "D1\tone\t\tC01\t\nD2\ttwo\n", "4 or 5 cells.*line 2"),
        ("d.tsv", "what\tis\tthis\n", "MeSH XML or TSV.*line 1"),
    ],
)
def test_broken_files_are_errors(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(PelError, match=message):
        list(MeshKB()([path]))

"""The audit finds what was put into a bad knowledge base, and nothing in a good one; what the command prints and its
exit codes."""

from dataclasses import replace
from pathlib import Path

import pytest
from cli.conftest import run

from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.check import KINDS, check
from spacy_pel.types import Entity

DEFAULT = Path(__file__).parents[2] / "assets" / "pel_medmentions"
GOOD = [
    Entity("C1", "Aspirin", ("ASA", 'the "wonder drug"', 'a 5" disk'), ("T109",), "A drug.", ("HP:1", "ICD10:I10-I16")),
    Entity(
        "C2", "Fever", ("Fever (finding)", "raised temperature; fever"), ("T184",), "Hot.", ("HP:2", "ICD10:I10-I16")
    ),
]
BAD = [
    *(Entity(f"A{i}", f"name {i}", ("CAD",), ("T1",), "x", (f"HP:{i + 10}", "ICD10:I10")) for i in range(6)),
    Entity("T1", "Cold", (), ("T1", "T2"), "x", ("hpo:HP:0",), ("T2",)),
    Entity("T2", "cold", ("COLD",), ("T2",), "x", ("HP:0",), ("T1",)),
    Entity("N1", "fever", ("Cold", *(f"synonym {i}" for i in range(50))), ("T1",), "x", (), ("N1", "GONE", "R1")),
    Entity("D1", "32", ("B<sub>12</sub>", "MÃ©niÃ¨re", "Ch\ufffddiak", "x\uf062", "it;", 'so-called"')),
    Entity("D2", "Asthma (disorder)", ("asthma", "OBSOLETE: wheeze", "Wheeze, NOS")),
]
LOST = {"R1": "GONE", "R2": "R1", "R3": "T1", "O1": "O2", "O2": "O1"}


@pytest.fixture(scope="module")
def found():
    return {finding.kind: finding for finding in check(KnowledgeBase(BAD, redirects=LOST))}


def worst(finding):
    return [(case.n, case.what, sorted(case.entities)) for case in finding.worst]


def test_nothing_is_wrong_with_a_good_one():
    findings = check(KnowledgeBase(GOOD, redirects={"C9": "C8", "C8": "C1"}))
    assert [finding.kind for finding in findings] == list(KINDS)
    assert not any(finding.count or finding.worst or finding.detail for finding in findings)
    assert not any(finding.count for finding in check(KnowledgeBase()))


def test_names(found):
    assert worst(found["twins"]) == [(2, "cold", ["T1", "T2"])]
    assert found["twins"].detail.startswith("2 entities; 1 of the names")
    assert worst(found["other_preferred"]) == [(1, "cold (T1)", ["N1"])]
    assert worst(found["acronym"]) == [(6, "CAD", [f"A{i}" for i in range(5)])]
    assert worst(found["many_names"]) == [(52, "", ["N1"])]
    damaged = {case.what: list(case.entities) for case in found["damaged_name"].worst}
    assert damaged == {
        **{"number: 32": ["D1"], "markup: B<sub>12</sub>": ["D1"], "mojibake: MÃ©niÃ¨re": ["D1"]},
        **{"mojibake: Ch\ufffddiak": ["D1"], "control_character: x\uf062": ["D1"], "last_sign: it;": ["D1"]},
        **{'stray_quote: so-called"': ["D1"], "obsolete_label: OBSOLETE: wheeze": ["D2"]},
        **{"semantic_tag: Asthma (disorder)": ["D2"], "semantic_tag: Wheeze, NOS": ["D2"]},
    }


def test_codes_of_vocabularies_that_identify(found):
    assert worst(found["shared_code"]) == [(2, "HP:0", ["T1", "T2"])]
    assert found["shared_code"].detail == "HP (1 of 7)"  # the only code of ICD-10 has six entities


def test_links(found):
    assert worst(found["is_a_cycle"]) == [(2, "circle", ["T1", "T2"]), (1, "circle", ["N1"])]
    assert {(n, what) for n, what, _ in worst(found["lost_parent"])} == {(1, "GONE"), (1, "R1")}
    assert worst(found["lost_redirect"]) == [(2, "GONE", ["R1", "R2"])] and found["lost_redirect"].count == 2
    assert worst(found["redirect_cycle"]) == [(2, "circle", ["O1", "O2"])]
    assert found["no_type"].count == found["no_definition"].count == 2


def test_changes_count():
    kb = KnowledgeBase(GOOD)
    kb.put([replace(GOOD[1], concept_id="C3")])
    found = {finding.kind: finding for finding in check(kb, top=0)}
    assert found["twins"].count == 1 and found["twins"].worst == []
    kb.retire(["C3"], {"C3": "C2"})
    assert not any(finding.count for finding in check(kb))


@pytest.mark.slow
def test_command(tmp_path):
    KnowledgeBase.build(BAD, tmp_path / "bad", redirects=LOST)
    KnowledgeBase.build(GOOD, tmp_path / "good")
    said = run("kb", "check", tmp_path / "bad")
    assert (
        said.code == 0 and "twins: preferred names of several entities" in said.out and "T1 Cold · T2 cold" in said.out
    )
    lists = {part.split(":")[0]: part.splitlines()[1].split() for part in said.out.split("\n\n")[1:]}
    assert lists["no_type"] == ["entities"] and lists["many_names"] == ["n", "what", "entities"]
    strict = run("kb", "check", tmp_path / "bad", "--strict", "--json")
    assert strict.code == 1 and "Too many: damaged_name 10, many_names 1, is_a_cycle 2" in strict.err
    assert strict.json["findings"][0]["worst"][0]["n"] == 1
    assert run("kb", "check", tmp_path / "good", "--strict").code == 0
    assert run("kb", "check", tmp_path / "bad", "--most", "twins=1").code == 0
    assert run("kb", "check", tmp_path / "bad", "--most", "twins=0").code == 1
    for wrong in ("twin=1", "twins=many", "twins"):
        assert run("kb", "check", tmp_path / "bad", "--most", wrong).code == 2


@pytest.mark.slow
@pytest.mark.skipif(not DEFAULT.is_dir(), reason="needs the default pipeline")
def test_the_default_pipeline():
    assert run("kb", "check", DEFAULT, "--strict", "--top", 1).code == 0

"""okb: the data set, its report and its checks, against numbers counted by hand."""

import json
import re

import pytest
from cli.conftest import run
from spacy_pel_studies.okb import PAPER_TYPES, by_groups, by_share, by_types

from spacy_pel.corpora import read_corpus, write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity, Mention
from spacy_pel.util import read_jsonl

ENTITIES = [
    Entity("C0", "memory", (), ("T041",), "a mental process of three"),  # 5 words
    Entity("C1", "sodium", ("Na", "natrium"), ("T196", "T121")),
    Entity("C2", "stent", (), ("T074",), "a tube"),
    Entity("C3", "heparin", (), ("T121",), "thins the blood well"),
    Entity("D4", "asthma", ("bronchial asthma",), ("T047",)),
    Entity("D5", "gout", (), ("T047",)),
    Entity("D6", "pacemaker", (), ("T074",)),  # in no corpus
]
REDIRECTS = {"OLD1": "C1", "OLD5": "D5"}
TRAIN = [("memory", "C0"), ("Memory", "C0"), ("sodium", "OLD1")]
TRAIN += [("asthma", "D4"), ("zzz", "X9"), ("mix", "C1 D4")]
SPLITS = {
    "train": TRAIN,
    "dev": [("memory", "C0"), ("stents", "C2"), ("gout", "OLD5"), ("asthma", "D4")],
    "test": [("Na+", "C1"), ("stent", "C2 C0"), ("asthma", "D4"), ("gout", "D5")],
}


def document(number, name, ids):
    return Document(number, f"of {name} here", [Mention(3, 3 + len(name), "X", tuple(ids.split()))])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("okb")
    KnowledgeBase.build(ENTITIES, path / "kb", redirects=REDIRECTS, source={"name": "tiny"})
    for name, mentions in SPLITS.items():
        documents = [document(f"{name}{i}", *mention) for i, mention in enumerate(mentions)]
        write_corpus(path / f"{name}.jsonl", documents)
    return path


@pytest.fixture
def splits(data):
    return [word for name in SPLITS for word in ("--corpus", f"{name}={data / name}.jsonl")]


def test_the_papers_types_leave(data, splits, tmp_path):
    result = run("research", "okb", data / "kb", tmp_path / "o", *splits, "--json")
    assert result.code == 0, result.err
    kb = KnowledgeBase.from_disk(tmp_path / "o" / "kb")
    assert [entity.concept_id for entity in kb.entities()] == ["C3", "D4", "D5"]
    assert kb.redirects() == {"OLD5": "D5"} and kb.resolve("OLD1") is None
    assert kb.source["name"] == "tiny" and kb.source["okb"]["by"] == "types"
    assert kb.source["okb"]["from"] == KnowledgeBase.from_disk(data / "kb").fingerprint
    ids = {name: [m.ids for d in read_corpus(tmp_path / "o" / f"{name}.jsonl") for m in d.mentions] for name in SPLITS}
    assert ids["train"] == [(), (), (), ("D4",), ("X9",), ("D4",)]
    assert ids["dev"] == [(), (), ("OLD5",), ("D4",)] and ids["test"] == [(), (), ("D4",), ("D5",)]
    removed = [record["concept_id"] for record in read_jsonl(tmp_path / "o" / "removed.jsonl")]
    assert removed == ["C0", "C1", "C2", "D6"]
    assert json.loads((tmp_path / "o" / "report.json").read_text()) == result.json


def test_original_ids_stay_in_the_meta(data, splits, tmp_path):
    run("research", "okb", data / "kb", tmp_path / "o", *splits)
    documents = list(read_corpus(tmp_path / "o" / "test.jsonl"))
    assert documents[1].meta == {"okb": [{"start": 3, "end": 8, "ids": ["C2", "C0"]}]}
    assert documents[2].meta == {}


def test_report_by_hand(data, splits, tmp_path):
    report = run("research", "okb", data / "kb", tmp_path / "o", *splits, "--json").json
    assert report["entities"] == {"before": 7, "removed": 4, "left": 3}
    counts = report["splits"]
    assert [counts[name]["okb_mentions"] for name in SPLITS] == [3, 2, 2]
    assert [counts[name]["okb_entities"] for name in SPLITS] == [2, 2, 3]  # C0 C1 | C0 C2 | C1 C2 C0
    assert (counts["train"]["nil_before"], counts["train"]["partly"]) == (1, 1)
    assert counts["train"]["nil_share"] == pytest.approx(4 / 6)
    assert counts["test"]["parts"]["T074"] == 1 and counts["test"]["parts"]["T196"] == 1
    assert report["part_entities"]["T074"] == 2 and report["types"]["T041"] == "Mental Process"
    # train knows C0 C1 D4: of dev, C2 and D5 are unseen, of test C2 and D5; the mention "stent" has seen C0
    unseen = report["zero_shot"]
    assert report["seen_in"] == "train" and set(unseen["train"].values()) == {0.0}
    assert unseen["dev"] == pytest.approx(
        {"okb_mentions": 1 / 2, "okb_entities": 1 / 2, "all_mentions": 2 / 4, "all_entities": 2 / 4}
    )
    assert unseen["test"] == pytest.approx(
        {"okb_mentions": 0, "okb_entities": 1 / 3, "all_mentions": 1 / 4, "all_entities": 2 / 5}
    )
    # forms: train {memory, sodium}, dev {memory, stents}, test {na, stent}; all: + asthma (+ mix, + gout)
    overlap = {(row["of"], row["in"]): (row["okb"], row["all"]) for row in report["surface_overlap"]}
    assert overlap[("dev", "train")] == pytest.approx((1 / 2, 2 / 4))
    assert overlap[("test", "train")] == pytest.approx((0, 1 / 4))
    assert overlap[("test", "dev")] == pytest.approx((0, 2 / 4))
    lengths = report["description_lengths"]
    assert lengths["removed"]["words_mean"] == pytest.approx(3.5)  # 5 and 2
    assert lengths["removed"]["with_definition"] == 0.5 and lengths["removed"]["names_mean"] == 1.5
    assert lengths["removed_in_corpus"]["entities"] == 3
    assert lengths["kb"]["words_median"] == 4 and lengths["kb"]["entities"] == 7


def test_printed_table(data, splits, tmp_path):
    out = run("research", "okb", data / "kb", tmp_path / "o", *splits).out
    rows = {line.split("  ")[0]: line.split("  ")[1:] for line in out.splitlines()}
    assert [cell.strip() for cell in rows["NIL now, by removal"] if cell.strip()] == ["3", "2", "2"]
    assert [cell.strip() for cell in rows["paper: mentions"] if cell.strip()] == ["14K", "4.8K", "4.7K"]
    assert "T041 Mental Process" in out and "4 of 7 entities removed" in out
    assert "paper:" not in run("research", "okb", data / "kb", tmp_path / "o", *splits, "--types", "T047").out


def test_types_by_name_id_or_list(data):
    kb = KnowledgeBase.from_disk(data / "kb")
    assert len(PAPER_TYPES) == 11

    def chosen(*names):
        return kb.ids_at(by_types(kb, names).removed.nonzero()[0])

    assert chosen("Element Ion or Isotope") == chosen("Element, Ion, or Isotope") == chosen("T196") == ["C1"]
    assert chosen("T041,T047") == ["C0", "D4", "D5"] and chosen("mental process") == ["C0"]
    own = KnowledgeBase([Entity("A:1", "x", (), ("tumour type",)), Entity("A:2", "y", (), ("organism",))])
    assert by_types(own, ["Tumour Type"]).removed.tolist() == [True, False]


def test_groups(data, splits, tmp_path):
    result = run("research", "okb", data / "kb", tmp_path / "o", *splits, "--groups", "D", "--json").json
    assert result["part_entities"] == {"D": 3} and result["groups"] == ["D"]
    assert [result["splits"][name]["okb_mentions"] for name in SPLITS] == [1, 2, 2]


def test_a_share_is_seeded_and_nested():
    kb = KnowledgeBase([Entity(f"C{i:02}", f"name {i}") for i in range(60)])
    turned = KnowledgeBase([Entity(f"C{i:02}", f"name {i}") for i in reversed(range(60))])

    def chosen(kb, share, seed=0):
        rows = kb.rows([f"C{i:02}" for i in range(50)])  # ten occur nowhere
        return set(kb.ids_at(by_share(kb, rows.tolist(), share, seed=seed).removed.nonzero()[0]))

    assert len(chosen(kb, 0.1)) == 5 and len(chosen(kb, 0.2)) == 10
    assert chosen(kb, 0.1) < chosen(kb, 0.2) and chosen(kb, 0.1) == chosen(turned, 0.1)
    assert chosen(kb, 0.1) != chosen(kb, 0.1, seed=1)
    assert max(chosen(kb, 0.9)) < "C50"


def test_share_on_the_command_line(data, splits, tmp_path):
    result = run("research", "okb", data / "kb", tmp_path / "o", *splits, "--share", 0.2, "--seed", 3, "--json").json
    assert result["entities"]["removed"] == 1 and (result["share"], result["of"]) == (0.2, 5)
    assert run("research", "okb", data / "kb", tmp_path / "o", *splits, "--share", 0.4, "--json").code == 0  # replaced


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--types", "Mental Procession"), "E230.*Mental Procession.*T047"),
        (("--types", "T005"), "E231.*Virus.*--share"),
        (("--groups", "MONDO:"), "E232.*C, D"),
        (("--share", "0.01"), "E233.*5 entities"),
        (("--groups", "D6"), "E234.*1 entities"),
        (("--share", "0.1", "--types", "T047"), "E236"),
        (("--corpus", "train=x.jsonl"), "E237.*train=x.jsonl"),
        (("--corpus", "nothing"), "E237"),
        (("--corpus", "../up=x.jsonl"), "E237"),
    ],
)
def test_bad_input(data, splits, tmp_path, options, expected):
    result = run("research", "okb", data / "kb", tmp_path / "o", *splits, *options)
    assert result.code == 2
    assert re.search(expected, result.err), result.err
    assert not (tmp_path / "o").exists()


def test_folders_of_others_are_left_alone(data, splits, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    for out in (tmp_path, data, tmp_path / "mine.txt", data / "kb"):
        result = run("research", "okb", data / "kb", out, *splits)
        assert result.code == 2 and "E235" in result.err
    assert (tmp_path / "mine.txt").read_text() == "mine" and (data / "kb").is_dir()


def test_a_corpus_of_other_ids(data, tmp_path):
    write_corpus(tmp_path / "c.jsonl", [document("1", "zzz", "MESH:1")])
    result = run("research", "okb", data / "kb", tmp_path / "o", "--corpus", f"test={tmp_path / 'c.jsonl'}")
    assert result.code == 2 and "E671" in result.err


def test_groups_of_a_kb_are_named_in_the_error():
    kb = KnowledgeBase([Entity("GO:1", "a"), Entity("GO:2", "b"), Entity("CL:1", "c")])
    assert by_groups(kb, ["GO:,CL"]).removed.all()
    with pytest.raises(ValueError, match="E232.*GO, CL"):
        by_groups(kb, ["MONDO"])

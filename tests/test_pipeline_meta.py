"""What ``meta.json`` of the default pipeline says, for ``spacy info`` and for its package."""

import json
import re

import pytest
from pages import ROOT, rows
from spacy.util import get_minor_version_range

from spacy_pel import KnowledgeBase, __version__
from spacy_pel.kb.sources import check_may_be_passed_on, pipeline_entries

META = json.loads((ROOT / "assets" / "pel_medmentions" / "meta.json").read_text(encoding="utf8"))
CARD = (ROOT / "assets" / "MODEL_CARD.md").read_text(encoding="utf8")


def test_version_and_requirements():
    assert (META["lang"], META["name"], META["version"]) == ("en", "pel_medmentions", __version__)
    assert META["requirements"] == [f"spacy-pel{get_minor_version_range(__version__)}"]


def test_performance_is_that_of_the_model_card():
    [ours] = [cells for cells in rows(CARD) if cells[0] == "spacy_pel"]
    patterns = {
        "ents_f": r"with the right type (\d+\.\d)",
        "nel_accuracy": r"With the calibrated threshold: accuracy with NIL (\d+\.\d)",
        "nel_nil_p": r"NIL precision (\d+\.\d)",
        "nel_nil_r": r"NIL precision \d+\.\d, recall (\d+\.\d)",
        "nel_nil_f": r"NIL precision \d+\.\d, recall \d+\.\d, F1 (\d+\.\d)",
    }
    expected = {name: re.search(pattern, CARD)[1] for name, pattern in patterns.items()}
    expected |= {f"nel_recall_at_{k}": ours[i].split()[0] for i, k in enumerate((1, 5, 64), start=1)}
    assert META["performance"] == {name: pytest.approx(float(value) / 100) for name, value in expected.items()}


def test_sources_and_counts_are_those_of_the_knowledge_base():
    name = "proxy_entity_linker"
    kb = KnowledgeBase.from_disk(ROOT / "assets" / "pel_medmentions" / name / "kb")
    assert [one for one in META["sources"] if "component" in one] == pipeline_entries(kb.sources, name)
    assert META["knowledge_bases"] == {name: {key: kb.meta["counts"][key] for key in ("entities", "aliases")}}
    assert f"{len(kb):,} entities with {len(kb) + kb.meta['counts']['aliases']:,} names" in CARD
    check_may_be_passed_on(kb.sources)


def test_sources_are_those_of_the_table():
    named = [source["name"] for source in META["sources"]]
    table = [cells for cells in rows((ROOT / "assets" / "README.md").read_text(encoding="utf8")) if len(cells) == 3]
    for name, _, _ in table:
        assert any(one.startswith(name.split(",")[0].split(" (")[0]) for one in named), name
    assert all(source["license"] for source in META["sources"]) and len(table) > 10

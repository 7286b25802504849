"""The shipped knowledge base knows what clinicians write most often. The lists were written before it was looked at."""

from itertools import chain
from pathlib import Path

import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.util import read_lines
from spacy_pel.util.config import load_config

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "assets" / "pel_medmentions" / "proxy_entity_linker" / "kb"
LISTS = ROOT / "tests" / "fixtures" / "common"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the default pipeline")
@pytest.mark.parametrize("name,n,floor", [("drugs", 100, 95), ("lab_tests", 50, 39), ("procedures", 50, 35)])
def test_common_names_are_in_the_default_kb(name, n, floor):
    names = [line.strip() for _, line in read_lines(LISTS / f"{name}.txt")]
    kb = KnowledgeBase.from_disk(FOLDER)
    missing = [one for one in names if not kb.ids(one)]
    assert len(set(names)) == n and n - len(missing) >= floor, missing


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the default pipeline")
def test_licensed_vocabularies_leave_the_codes_of_the_default():
    xrefs = chain.from_iterable(entity.xrefs for entity in KnowledgeBase.from_disk(FOLDER).entities())
    vocabularies = {xref.partition(":")[0] for xref in xrefs}
    assert len(vocabularies) >= 15
    assert vocabularies <= set(load_config(ROOT / "configs" / "licensed.cfg", {})["merge"]["xrefs"])

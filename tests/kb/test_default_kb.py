"""The shipped knowledge base knows what clinicians write most often. The lists were written before it was looked at."""

from pathlib import Path

import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.util import read_lines

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

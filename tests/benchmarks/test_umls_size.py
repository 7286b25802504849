"""Made-up UMLS tables."""

import pytest

from benchmarks.umls_size import TABLES, write_tables
from spacy_pel.kb.readers.umls_kb import UmlsKB

pytestmark = pytest.mark.slow


def test_tables_are_as_large_as_asked_for(tmp_path):
    counts = write_tables(tmp_path / "META", 3000)
    texts = {name: (tmp_path / "META" / f"{name}.RRF").read_text("utf8") for name in TABLES}
    assert counts == {name: text.count("\n") for name, text in texts.items()}
    reader = UmlsKB(types=["st21pv"], strict=True)
    entities = list(reader([tmp_path / "META"]))
    assert len(entities) == 3000 and reader.report.keys() <= {"semantic_tag"}
    # those that tables have; a name with a semantic tag gives one without it, too
    n_names = sum(1 + len(entity.aliases) for entity in entities) - reader.report["semantic_tag"]
    # 10 million rows give 2.36 million concepts with 7.4 million names
    assert abs(counts["MRCONSO"] / 3000 - 10 / 2.36) < 0.3 and abs(n_names / 3000 - 7.4 / 2.36) < 0.3
    assert 0.05 < sum(entity.definition is not None for entity in entities) / 3000 < 0.2
    assert 0.05 < len(reader.redirects) / 3000 < 0.2
    assert all(set(entity.types) & reader.wanted_types for entity in entities)

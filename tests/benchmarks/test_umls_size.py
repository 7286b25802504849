"""Made-up UMLS tables, and the benchmark that builds from them."""

import pytest

from benchmarks.umls_size import TABLES, measure, write_tables
from spacy_pel.kb.readers.umls_kb import UmlsKB

pytestmark = pytest.mark.slow


def test_tables_are_as_large_as_asked_for(tmp_path):
    counts = write_tables(tmp_path / "META", 3000)
    texts = {name: (tmp_path / "META" / f"{name}.RRF").read_text("utf8") for name in TABLES}
    assert counts == {name: text.count("\n") for name, text in texts.items()}
    reader = UmlsKB(types=["st21pv"], strict=True)
    entities = list(reader([tmp_path / "META"]))
    assert len(entities) == 3000 and reader.report == {}
    n_names = sum(1 + len(entity.aliases) for entity in entities)
    # 10 million rows give 2.36 million concepts with 7.4 million names
    assert abs(counts["MRCONSO"] / 3000 - 10 / 2.36) < 0.3 and abs(n_names / 3000 - 7.4 / 2.36) < 0.2
    assert 0.05 < sum(entity.definition is not None for entity in entities) / 3000 < 0.2
    assert 0.05 < len(reader.redirects) / 3000 < 0.2
    assert all(set(entity.types) & reader.wanted_types for entity in entities)


def test_measures_a_build(tmp_path):
    write_tables(tmp_path / "META", 400)
    found = measure(tmp_path / "META", tmp_path / "kb")
    entities = list(UmlsKB(types=["st21pv"])([tmp_path / "META"]))
    assert found["concepts"] == 400 and found["names"] == sum(1 + len(entity.aliases) for entity in entities)
    assert 0 < found["CPU seconds"] and 0 < found["seconds"] and 0.02 < found["peak memory, GB"] < 2
    assert 0 < found["open, s"] < 5 and found["private, MB"] < 200

"""The README: short, the same numbers everywhere, one version."""

import re
from importlib.metadata import distribution

import pytest
from pages import PAGES, README, ROOT, name, rows, section, sentences

from spacy_pel import __version__


def test_it_is_short():
    assert len(README.read_text(encoding="utf8").split()) <= 1100


def test_metrics_are_the_same_everywhere():
    tables = list(rows(section(ROOT / "docs" / "benchmarks.md", "metrics")))
    summary, results = tables[:3], tables[3:]
    card = rows((ROOT / "assets" / "MODEL_CARD.md").read_text(encoding="utf8"))
    assert [cells for cells in card if len(cells) == 6] == results[:4]
    corpora = (results[:4], results[4:8], results[8:])
    for line, (ours, prior, scispacy, _) in zip(summary, corpora, strict=True):
        shown = [cell.replace("*", "") for cell in line[1:]]
        assert shown == [ours[1], ours[3], prior[1], scispacy[1]]
    first = re.findall(r"([\d.]+)% on", README.read_text(encoding="utf8"))
    assert first == [ours[1].split()[0] for ours, *_ in corpora]


def test_one_version():
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf8")
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    assert distribution("spacy-pel").version == __version__


WRITTEN = [path for path in PAGES if path.parent.name != "assets"]


@pytest.mark.parametrize("path", WRITTEN, ids=name)
def test_sentences_are_short(path):
    assert [sentence for sentence in sentences(path) if len(sentence.split()) > 40] == []


@pytest.mark.parametrize("path", WRITTEN, ids=name)
def test_short_names_of_losses_are_for_tables(path):
    """Papers write "Pb"; the text says "proxy-based loss", but for labels of runs."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\|.*$|`[^`\n]*`|\"Pb[^\"\n]*\"", "", text, flags=re.MULTILINE)
    assert text.strip() and "Pb" not in text

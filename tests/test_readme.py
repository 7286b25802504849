"""The README: short, the same numbers everywhere, one version."""

import re
from importlib.metadata import distribution

import pytest

from spacy_pel import __version__
from tests.pages import README, ROOT, name, rows, section


def test_it_is_short():
    assert len(README.read_text(encoding="utf8").splitlines()) <= 200


def test_metrics_are_those_of_the_model_card():
    card = list(rows((ROOT / "assets" / "MODEL_CARD.md").read_text(encoding="utf8")))
    summary, *results = list(rows(section(README, "metrics")))[0], *rows(section(README, "metrics"))
    measured = [cells for cells in card if len(cells) == 6]
    assert len(measured) == 4 and all(cells in results for cells in measured)
    assert [cell.replace("*", "") for cell in summary[1:]] == [
        measured[0][1],
        measured[0][3],
        measured[1][1],
        measured[3][1],
    ]


def test_one_version():
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf8")
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    assert distribution("spacy-pel").version == __version__


@pytest.mark.parametrize("path", [README, *sorted((ROOT / "docs").glob("*.md"))], ids=name)
def test_short_names_of_losses_are_for_tables(path):
    """Papers write "Pb"; the text says "proxy-based loss", but for labels of runs."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\|.*$|`[^`\n]*`|\"Pb[^\"\n]*\"", "", text, flags=re.MULTILINE)
    assert len(text) > 500 and "Pb" not in text

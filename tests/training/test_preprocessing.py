"""The step that another corpus decides, and lines that ``corpus restore`` refuses. The steps that change texts are in
the studies, with their tests."""

import pytest

from spacy_pel.corpora import write_corpus
from spacy_pel.errors import PelError
from spacy_pel.training.corpora.restore import restored
from spacy_pel.training.preprocessing import Agree
from spacy_pel.types import Document, Mention


@pytest.mark.parametrize("entity_id, kept", [("C0", ["Atrophy", "SBMA"]), ("C7", ["SBMA"])])
def test_agree_leaves_out_what_the_reference_contradicts(tmp_path, entity_id, kept):
    write_corpus(tmp_path / "reference.jsonl", [Document("r", "atrophy", [Mention(0, 7, "X", ("C0",))])])
    step = Agree(tmp_path / "reference.jsonl")
    mentions = [Mention(0, 7, "X", (entity_id,)), Mention(11, 15, "X", ("C9",))]
    (made,) = step(Document("d", "Atrophy in SBMA.", mentions))
    assert [made.text[m.start : m.end] for m in made.mentions] == kept
    assert step.report == {"contradicting_mentions": 2 - len(kept)}


@pytest.mark.parametrize(
    "change",
    [
        {"id": "d", "meta": "original"},
        {"id": "d", "mentions": [{"start": 0}]},
        {"id": "d", "mentions": [{"start": 0.5, "end": 7}]},
        {},
    ],
)
def test_lines_that_are_no_documents(tmp_path, change):
    with pytest.raises(PelError, match="E202"):
        list(restored([{"text": "one text", **change}], {"d": Document("d", "one text")}, tmp_path))

"""The component with an encoder that has weights: a random transformer of one layer."""

import pytest
import spacy

from spacy_pel.errors import PelError

from .conftest import NAME, links


@pytest.fixture
def nlp(make_nlp, tiny_bert):
    return make_nlp(encoder={"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(tiny_bert)})


def test_max_length_changes_what_mentions_read_and_nothing_that_is_saved(nlp, tmp_path):
    nlp.to_disk(tmp_path / "long")
    short = spacy.load(tmp_path / "long", config={f"components.{NAME}.max_length": 8})
    linker = short.get_pipe(NAME)
    assert linker.encoder.mention_template.max_length == 128
    assert linker.linker.encoder.mention_template.max_length == 8
    text = "zzyzx " * 3 + "heart attack" + " zzyzx" * 3
    assert links(short(text)) != links(nlp(text))
    assert linker.linker.encoder.towers is linker.encoder.towers
    short.to_disk(tmp_path / "short")  # saves the setting, not another encoder
    again = spacy.load(tmp_path / "short")
    assert links(again(text)) == links(short(text))
    back = spacy.load(tmp_path / "short", config={f"components.{NAME}.max_length": None})
    assert links(back(text)) == links(nlp(text))
    with pytest.raises(PelError, match="PEL-E301"):
        spacy.load(tmp_path / "long", config={f"components.{NAME}.max_length": 2})

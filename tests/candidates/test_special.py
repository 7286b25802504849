"""How generators are made by name."""

import pytest

from spacy_pel.errors import PelError
from spacy_pel.training.recall import make_generator


@pytest.mark.parametrize(("name", "settings", "code"), [("nothing", {}, "E001"), ("tfidf", {"ngrams": [1, 2]}, "E445")])
def test_wrong_names_and_settings(name, settings, code):
    with pytest.raises(PelError, match=code):
        make_generator(name, settings)

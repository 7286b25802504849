"""Plain words of texts that are all in lower case are no acronyms, but those beside other shorthand are."""

import pytest

from spacy_pel.linking import MentionQuery
from spacy_pel.linking.finder import plain_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *[("i am sad", "sad"), ("he sat on the bed", "sat bed"), ("we ate", "ate"), ("my cap", "cap")],
        *[("the cat sat on the mat", "cat sat mat"), ("she had a fit at home", "fit"), ("he was mad at me", "mad")],
        *[("met with the team", ""), ("history of cad", ""), ("admitted with cap", ""), ("cad", "")],
        *[("his cad, htn and copd", ""), ("pmh: his cad", ""), ("we ate SAD", "ate"), ("He has cad.", "cad")],
    ],
)
def test_words_of_prose(text, words):
    places = [(text.index(word), word) for word in "sad sat bed ate cap cat mat fit mad cad".split() if word in text]
    queries = [MentionQuery(text, start, start + len(word)) for start, word in places]
    assert sorted(filter(None, plain_words(queries))) == sorted(words.split())

"""Predictions for the tests of metrics and reports."""

from html.parser import HTMLParser

from spacy_pel.evaluation import Prediction


def predicted(gold, candidates, kb_id=None, *, doc="d", label="", nil=0.0, rank=0, **more):
    """A prediction with the candidates in this order, and the first of them as the answer.

    ``rank`` puts the first gold id at this place among 64 other candidates.
    """
    if candidates is None:
        candidates = [f"X{place}" for place in range(1, 65)]
        if rank:
            candidates[rank - 1] = gold[0]
    ranked = [(entity_id, 1.0 / place) for place, entity_id in enumerate(candidates, start=1)]
    chosen = candidates[0] if kb_id is None else kb_id
    return Prediction(doc, 0, 1, "x", label, gold, chosen, ranked, nil, **more)


class PageParser(HTMLParser):
    """Checks that tags are closed; keeps them, and each piece of text with the tags that are open there."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.pieces = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "br", "input"):
            self.open.append(self.tags[-1])

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.pieces.append((data, list(self.open)))

    def attributes_of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    def texts_of(self, tag):
        return [data for data, tags in self.pieces if tags and tags[-1][0] == tag]

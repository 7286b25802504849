"""The surface forms of gold mentions, unchanged or with abbreviations expanded."""

from collections.abc import Iterable

from spacy_pel.types import Document


def surfaces(documents: Iterable[Document], *, expand: bool) -> list[str]:
    """One per gold mention; with ``expand`` a document's abbreviations
    are replaced by the long forms that scispaCy's detector finds in it."""
    import spacy

    from spacy_pel.abbreviations.documents import long_form_at, long_forms
    from spacy_pel.pipeline.abbreviations import AbbreviationDetector

    nlp = spacy.blank("en")
    detector = AbbreviationDetector(nlp) if expand else None
    found = []
    for document in documents:
        forms = long_forms(detector(nlp.make_doc(document.text))) if detector else {}
        for mention in document.mentions:
            written = document.text[mention.start : mention.end]
            found.append(long_form_at(forms, written, mention.start) or written)
    return found

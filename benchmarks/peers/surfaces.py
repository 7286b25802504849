"""The surface forms of gold mentions, unchanged or with abbreviations expanded."""

from typing import Dict, Iterable, List

from spacy_pel.types import Document


def surfaces(documents: Iterable[Document], *, expand: bool) -> List[str]:
    """RETURNS (List[str]): one per gold mention; with ``expand`` a document's abbreviations
    are replaced by the long forms that scispaCy's detector finds in it."""
    import spacy

    from spacy_pel.pipeline.abbreviations import AbbreviationDetector
    from spacy_pel.pipeline.mentions import long_forms

    nlp = spacy.blank("en")
    detector = AbbreviationDetector(nlp.vocab) if expand else None
    found = []
    for document in documents:
        forms: Dict[str, str] = long_forms(detector(nlp.make_doc(document.text))) if detector else {}
        written = [document.text[mention.start : mention.end] for mention in document.mentions]
        found += [forms.get(surface, surface) for surface in written]
    return found

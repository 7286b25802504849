"""scispaCy's abbreviation detector as a component that spaCy finds without importing scispaCy."""

from typing import Any, Dict

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab


@Language.factory(
    "pel_abbreviation_detector",
    assigns=["doc._.abbreviations", "span._.long_form"],
    default_config={},
)
def make_abbreviation_detector(nlp: Language, name: str) -> "AbbreviationDetector":
    """Build a component that finds abbreviations and their long forms.

    scispaCy registers its "abbreviation_detector" only when it is imported, so that a saved pipeline
    with it cannot be loaded by ``spacy.load`` alone; this factory is published by an entry point.

    nlp (Language): the pipeline.
    name (str): the component's name.
    RETURNS (AbbreviationDetector): the component.
    RAISES (PelError): if scispaCy is not installed.
    """
    return AbbreviationDetector(nlp.vocab, name)


class AbbreviationDetector:
    """Sets ``doc._.abbreviations`` as scispaCy does with ``make_serializable=True``.

    It is a list of dictionaries with ``short_text``, ``short_start``, ``short_end``, ``long_text``,
    ``long_start`` and ``long_end`` (token offsets). Docs can be pickled, stored in a DocBin and
    sent between processes.

    vocab (Vocab): the pipeline's vocabulary.
    name (str): the component's name.
    """

    def __init__(self, vocab: Vocab, name: str = "pel_abbreviation_detector") -> None:
        from ..corpora.abbreviations import make_detector

        self.vocab = vocab
        self.name = name
        self.detector = make_detector(vocab, feature="pel_abbreviation_detector")

    def __call__(self, doc: Doc) -> Doc:
        doc._.abbreviations = []  # scispaCy fails on a doc that was processed before
        return self.detector(doc)

    # unpickling rebuilds the detector: that sets the extension attributes in a new process
    def __getstate__(self) -> Dict[str, Any]:
        return {"vocab": self.vocab, "name": self.name}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

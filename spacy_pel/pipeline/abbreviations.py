"""A component that finds abbreviations and their long forms."""

from spacy.language import Language
from spacy.tokens import Doc, Span

from ..corpora.abbreviations import find_abbreviations


@Language.factory(
    "pel_abbreviation_detector",
    assigns=["doc._.abbreviations", "span._.long_form"],
    default_config={},
)
def make_abbreviation_detector(nlp: Language, name: str) -> "AbbreviationDetector":
    """Build a component that finds abbreviations and their long forms.

    nlp (Language): the pipeline.
    name (str): the component's name.
    RETURNS (AbbreviationDetector): the component.
    """
    return AbbreviationDetector(name)


class AbbreviationDetector:
    """Sets ``doc._.abbreviations`` as scispaCy's detector does with ``make_serializable=True``.

    It is a list of dictionaries with ``short_text``, ``short_start``, ``short_end``, ``long_text``,
    ``long_start`` and ``long_end`` (token offsets). Docs can be pickled, stored in a DocBin and
    sent between processes.

    name (str): the component's name.
    """

    def __init__(self, name: str = "pel_abbreviation_detector") -> None:
        self.name = name
        _add_extensions()

    def __call__(self, doc: Doc) -> Doc:
        doc._.abbreviations = found = find_abbreviations(doc)
        for one in found:
            doc[one["short_start"] : one["short_end"]]._.long_form = one["long_text"]
        return doc

    def __setstate__(self, state: dict) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _add_extensions() -> None:
    if not Doc.has_extension("abbreviations"):
        Doc.set_extension("abbreviations", default=[])
    if not Span.has_extension("long_form"):
        Span.set_extension("long_form", default=None)

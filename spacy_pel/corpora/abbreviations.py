"""scispaCy's abbreviation detector (Schwartz & Hearst 2003), for corpora and for the pipeline component."""

from types import SimpleNamespace
from typing import Any

from spacy.matcher import Matcher
from spacy.vocab import Vocab

from ..errors import Errors, PelError

# scispaCy considers at most eight tokens in brackets; its own pattern is unbounded and
# takes quadratic time on long texts
_BRACKETS = [[{"ORTH": "("}, {"OP": "{1,8}"}, {"ORTH": ")"}]]
_NOTHING = [[{"LENGTH": {"<": 0}}]]  # spaCy warns (W036) of matchers without a pattern


def make_detector(vocab: Vocab, *, feature: str) -> Any:
    """Make a detector that sets ``doc._.abbreviations`` in its serializable form: a list of dictionaries
    with "short_text", "short_start", "short_end", "long_text", "long_start" and "long_end" (token offsets).

    vocab (Vocab): of the docs.
    feature (str): the feature that needs it, for the error.
    RETURNS (Callable): Doc -> Doc; its ``doc._.abbreviations`` must be set to [] before.
    RAISES (PelError): if scispaCy is not installed.
    """
    try:
        from scispacy.abbreviation import AbbreviationDetector as SciAbbreviationDetector
    except ImportError as err:
        raise PelError(Errors.E003.format(feature=feature, package="scispacy", extra="scispacy")) from err
    # of a pipeline it reads the vocabulary only
    detector = SciAbbreviationDetector(SimpleNamespace(vocab=vocab), make_serializable=True)
    detector.matcher = Matcher(vocab)
    detector.matcher.add("parenthesis", _BRACKETS)
    detector.global_matcher.add("nothing", _NOTHING)
    return detector

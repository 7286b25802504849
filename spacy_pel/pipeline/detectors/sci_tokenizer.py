"""scispaCy's tokenizer in a pipeline that later loads without scispaCy."""

import re
import warnings
from collections.abc import Callable

import spacy
from spacy.language import Language

from ...errors import Errors, PelError


@spacy.registry.callbacks("spacy-pel.sci_tokenizer.v1")
def make_sci_tokenizer() -> Callable[[Language], None]:
    """Build a callback for ``[initialize.before_init]`` that sets scispaCy's tokenizer.

    Its rules are saved with the pipeline like those of any spaCy tokenizer; since ``spacy.load`` does
    not run ``[initialize]``, scispaCy is needed for training only.

    Returns:
        Sets ``nlp.tokenizer``.
    """
    return set_sci_tokenizer


def set_sci_tokenizer(nlp: Language) -> None:
    """Replace the tokenizer by scispaCy's.

    Args:
        nlp: the pipeline.

    Raises:
        PelError: if scispaCy is not installed.
    """
    try:
        from scispacy.custom_tokenizer import combined_rule_tokenizer
    except ImportError as err:
        raise PelError(
            Errors.E003.format(feature="spacy-pel.sci_tokenizer.v1", package="scispacy", extra="scispacy")
        ) from err
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the doubled bar below
        tokenizer = combined_rule_tokenizer(nlp)
    # in scispaCy's rules one set of characters holds "||": the same set with one bar does not make
    # Python warn at every load of the pipeline
    suffixes = tokenizer.suffix_search.__self__.pattern
    tokenizer.suffix_search = re.compile(suffixes.replace("||", "|")).search
    nlp.tokenizer = tokenizer

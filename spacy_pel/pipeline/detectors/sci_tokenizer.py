"""Rules of tokenizers: for notes, for long runs of signs, and scispaCy's in a pipeline that loads without it."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokenizer import Tokenizer

from ...errors import Errors, PelError
from ...util.reading import LONG_RUN
from .boundaries import BULLETS, GLUED_NUMBER

_PREFIXES = (
    rf"^[|{BULLETS}]",
    rf"^{GLUED_NUMBER}",
    r"^[A-Za-z]{4,}(?=\d+(?:\.\d+)?(?:mc?g|[gu]|m[lL]|mEq|units?)$)",  # "metformin500mg"
)
_INFIXES = (
    r"(?<=[A-Za-z]{2});(?=[A-Za-z]{2})",
    r"(?<=[A-Za-z]{2})\+(?=[A-Za-z]{2})",
    r"(?<=[a-z]{4})(?<!poly)[(\[](?![IVXivx]+\b|(?:[a-z]|es)\b|\w+[(\[])(?=[A-Za-z]{2})",  # "asthma(mild)"
    r"(?<=[a-z]{3})[)\]](?=,[A-Za-z])|(?<=[)\]]),(?=[a-z]{3})",  # "pain(resolved),cough"
    r"(?<=\b[A-Z]{2}):(?=\d)",  # "BP:120/80"
    r"(?<=[A-Za-z])[“”|](?=[A-Za-z])|\|",
)
_SUFFIXES = (r"\|$",)
# A run is looked for where one begins, not at each of its signs; the other suffixes, such as dots, are short, and
# addresses have no runs.
_RUN_AT_END = rf"(?:^[^\W_]{{0,2}}|(?<=[^\W_]{{3}})){LONG_RUN}$|(?=.{{0,99}}$)"
_RUNS = {
    "prefix_search": rf"^[^\W_]{{0,2}}{LONG_RUN}|",
    "infix_finditer": rf"{LONG_RUN}|",
    "suffix_search": _RUN_AT_END,
    "url_match": rf"(?!\S*?{LONG_RUN})",
}


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
    """Replace the tokenizer by scispaCy's, with rules for notes, see ``add_note_rules``.

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
    add_note_rules(tokenizer)
    add_run_rules(tokenizer)
    nlp.tokenizer = tokenizer


def add_note_rules(tokenizer: Tokenizer) -> None:
    """Also split words that have no blank between them, as in notes: "hypertension(HTN)", "1.HTN", "MI+HTN",
    "metformin500mg", "|HTN|I10|". A mention can begin and end only where a token does, also in training. Words of
    abstracts stay as they are: no slash is split, nor "poly(ethylene", "iron(II)", "CD4+" or "patient(s)".

    Args:
        tokenizer: gets the rules, before its own.
    """
    for name, rules in (("prefix_search", _PREFIXES), ("infix_finditer", _INFIXES), ("suffix_search", _SUFFIXES)):
        _put_first(tokenizer, name, "|".join((*rules, "")))


def add_run_rules(tokenizer: Any) -> None:
    """Let a tokenizer take a long run of signs as one token: spaCy's takes off one sign at a time, in quadratic time,
    while no other thread runs.

    Args:
        tokenizer: gets the rules, before its own, if it is spaCy's.
    """
    for name, rule in _RUNS.items() if isinstance(tokenizer, Tokenizer) else ():
        _put_first(tokenizer, name, rule)


def _put_first(tokenizer: Tokenizer, name: str, rule: str) -> None:
    method: Any = getattr(tokenizer, name)
    own = getattr(getattr(method, "__self__", None), "pattern", "")  # "": it has no such rules
    if own and rule not in own:
        pattern = re.compile(f"{rule}(?:{own.removeprefix('(?u)')})")
        setattr(tokenizer, name, getattr(pattern, method.__name__))

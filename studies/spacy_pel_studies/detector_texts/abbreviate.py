"""Giving texts whose abbreviations were expanded abbreviations again."""

import re
from collections.abc import Iterator

from spacy_pel.registry import registry
from spacy_pel.types import Document

from ..preprocessing import with_replacements

_DEFINITION = re.compile(r"(?<!\w)(\w[^()\n]{4,98}?) ?\( ?(\1) ?\)")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_SMALL = frozenset("a an and as at by for from in into of on or the to with".split())
_VOWELS = frozenset("aeiou")
_LENGTHS = range(2, 10)  # of a short form, as ``find_abbreviations`` has it
_PLURALS = re.compile(r"[^sui]s$")  # not "mass", "virus", "sepsis"


@registry.pel_preprocessors("spacy-pel.Abbreviate.v1")
class Abbreviate:
    """Undoes ``ExpandAbbreviations``, or what was done to a corpus before it came here: where a text says
    "mast cell (mast cell)", it makes that "mast cell (MC)", and "MC" of "mast cell" from there on.

    What reads such a corpus has never seen an abbreviation, and a mention detector that learned from it
    misses them. The real short forms are lost. Those made up are the initials of the words without small
    ones ("of", "and"), numbers whole, with an "s" for a plural; the first letter and the next two consonants
    of a single word.

    A long form is kept where a mention begins or ends inside it; these are counted as "abbreviations_cut". So
    is one whose short form stands in the text already.
    """

    def __init__(self) -> None:
        self.report: dict[str, int] = dict.fromkeys(("abbreviations", "abbreviations_made", "abbreviations_cut"), 0)

    def __call__(self, document: Document) -> list[Document]:
        """The one with short forms."""
        ends = {place for mention in document.mentions for place in (mention.start, mention.end)}
        new, n_made = with_replacements(document, sorted(self._short_forms(document.text, ends)))
        self.report["abbreviations_made"] += n_made
        return [new]

    def _short_forms(self, text: str, ends: set[int]) -> Iterator[tuple[int, int, str]]:
        """The occurrences of long forms, from the one in brackets on, and the short form of each.

        Args:
            text: of a document.
            ends: where its mentions begin and end.
        """
        taken = set(_WORD.findall(text))
        defined: dict[str, int] = {}  # long form -> where it stands in brackets
        for match in _DEFINITION.finditer(text):
            defined.setdefault(match.group(1), match.start(2))
        for long_form, first in defined.items():
            short_form = short_form_of(long_form)
            if short_form is None or short_form in taken:
                continue
            matches = re.finditer(rf"(?<!\w){re.escape(long_form)}(?!\w)", text)
            spans = [match.span() for match in matches if match.start() >= first]
            whole = [(start, end) for start, end in spans if ends.isdisjoint(range(start + 1, end))]
            self.report["abbreviations_cut"] += len(spans) - len(whole)
            if not whole or whole[0][0] != first:  # without its definition, it would stand for nothing
                continue
            taken.add(short_form)
            self.report["abbreviations"] += 1
            yield from ((start, end, short_form) for start, end in whole)


def short_form_of(long_form: str) -> str | None:
    """Make up an abbreviation.

    Args:
        long_form: e.g. "tumor necrosis factors".

    Returns:
        e.g. "TNFs"; None if it would not be 2 to 9 characters long and shorter than the
        long form.
    """
    words = [word for word in _WORD.findall(long_form) if word.lower() not in _SMALL]
    if not words:
        return None
    plural = "s" if _PLURALS.search(words[-1]) and len(words[-1]) > 3 else ""
    if len(words) == 1:
        first, *others = words[0].removesuffix(plural)
        consonants = [letter for letter in others if letter.lower() not in _VOWELS]
        made = "".join([first, *consonants[:2]]).upper()
    else:
        made = "".join(word if word.isdigit() else word[0].upper() for word in words)
    made += plural
    return made if len(made) in _LENGTHS and len(made) < len(long_form) and made[0].isalpha() else None

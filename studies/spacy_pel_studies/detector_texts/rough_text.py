"""Text as people type and paste it: capitals, blanks, quotes, spelling and line ends change, mentions do not."""

import re
from collections.abc import Callable, Iterator
from random import Random

from spacy_pel.registry import registry
from spacy_pel.types import Document

from ..preprocessing import with_letters, with_replacements

_PLACE = re.compile(r"(?P<blank>[ \n])|(?P<mark>['\"-])|(?P<word>\b[A-Za-z][a-z]{4,}\b)")
_CASES: dict[Callable[[str], str], int] = {str.lower: 35, str.upper: 15, str: 50}  # percent
_MISSPELLED = (0.0, 0.0, 0.02, 0.05)  # share of the words; one of these for each document
_GLUED = (0.0, 0.0, 0.25)  # share of the blanks after punctuation
_WIDTHS = (None, None, 60, 80)  # of a line
_HYPHENS = "\u2010\u2011\u2013"


@registry.pel_preprocessors("spacy-pel.RoughText.v1")
class RoughText:
    """Makes text as it is typed and pasted, for a detector to learn from. Each document gets a random choice of these
    changes, fixed by its id and the seed: lower case (a third of the documents) or capitals (a seventh), misspelled
    words, missing blanks after punctuation, typographic apostrophes, quotes and hyphens, and hard-wrapped lines.

    The mentions stay the same, with changed text: no blank within a mention is removed.

    Args:
        seed: of the random choices.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed
        kinds = ("texts_in_other_case", "words_misspelled", "blanks_removed", "marks_replaced", "lines_wrapped")
        self.report: dict[str, int] = dict.fromkeys(kinds, 0)

    def __call__(self, document: Document) -> list[Document]:
        rng = Random(f"{self.seed} {document.id}")
        (case,) = rng.choices(list(_CASES), list(_CASES.values()))
        new, _ = with_replacements(document, self._changes(document, rng))
        self.report["texts_in_other_case"] += case is not str
        return [with_letters(new, case)]

    def _changes(self, document: Document, rng: Random) -> Iterator[tuple[int, int, str]]:
        """Start, end and new text of each place."""
        text = document.text
        inside = {at for mention in document.mentions for at in range(mention.start, mention.end)}
        ends = {at for mention in document.mentions for at in (mention.start, mention.end)}
        misspelled, glued, width = rng.choice(_MISSPELLED), rng.choice(_GLUED), rng.choice(_WIDTHS)
        hyphen = rng.choice(_HYPHENS) if rng.random() < 1 / 3 else ""
        line = 0  # where it begins
        for match in _PLACE.finditer(text):
            start, end = match.span()
            before = text[max(start - 1, 0) : start]
            new, kind = None, ""
            if match["word"] and rng.random() < misspelled:
                start = rng.randrange(start + 1, end - 2)
                end = start + 2
                first, second = text[start], text[start + 1]
                new, kind = rng.choice([second + first, first, first + first + second]), "words_misspelled"
                if start + 1 in ends:
                    continue
            elif match["mark"] and hyphen:
                quote = "\u201c" if before in " ([\n" else "\u201d"  # opening, also where nothing is before
                new = {"-": hyphen, "'": "\u2019", '"': quote}[match["mark"]]
                kind = "marks_replaced"
            elif match["blank"] == "\n":
                line = end
            elif match["blank"] and start not in inside and before in {*".,;:"} and rng.random() < glued:
                new, kind = "", "blanks_removed"
            elif match["blank"] and width and start - line >= width:
                new, kind, line = "\n", "lines_wrapped", end
            if new is not None:
                self.report[kind] += 1
                yield start, end, new

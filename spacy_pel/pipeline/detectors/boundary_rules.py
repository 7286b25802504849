"""Rules for where a mention may begin and end, whatever tagged it: lines, items of lists, brackets, negations,
doses and the headings of notes."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

from spacy.tokens import Doc

from .note_values import Offsets, doses_of, without_values

_OPENING = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset({*_OPENING, *_OPENING.values()})

# "NO" is nitric oxide unless the word after it is in capitals, too: "NO FEVER", but not "NO synthase"
_NEGATION = re.compile(
    r"(?<![\w-])(?:"
    r"(?i:no|without|w/o)\s+(?:\w+\s+)?(?i:evidence|signs?|symptoms?|history|hx|complaints?|indication)\s+(?i:of)"
    r"|(?i:neg(?:ative)?\s+for|free\s+of|absence\s+of|ruled?\s+out)"
    r"|(?i:not|without|w/o|r/o|never(?:\s+had)?|n?either|nor|none|den(?:y|ies|ied|ying))"
    r"|(?i:hx\s+of|h/o|c/o|s/p)"  # no negations, but shorthand that ConText knows
    r"|[Nn]o|NO(?=\s+[A-Z]{3,}\b)"
    r")(?:\s+(?i:any))?(?![\w-])"
)
_HEADING = re.compile(
    r"(?<![\w-])(?i:"
    r"pmhx?|pshx?|hpi|fhx?|shx?|hx|a/p|(?:past |prior )?(?:medical|surgical|family|social) history"
    r"|history of present illness|chief complaint|reason for (?:visit|admission)|hospital course"
    r"|(?:current |home |discharge )?med(?:ication)?s|(?:drug )?allergies|physical exam(?:ination)?|vital signs|vitals"
    r"|labs|problem list|problems?|diagnos[ei]s|assessment|(?:assessment(?: and |/))?plan|impression|findings"
    r"|(?:in|ex)clusion(?: criteria)?"
    r")\s?:"
)

# between the items of a list. A plus is one between words, not after a sign of charge or of a marker: "CD4+ cells"
_SEPARATOR = re.compile(
    r"\s*[;|\t]\s*|\s*[•●▪◦‣]\s*(?=[A-Za-z])|\s+nor\s+|(?<=[A-Za-z]{2})(?:\+|\s\+\s)(?=[A-Za-z]{2,}(?![\w+]))"
    r"|(?:(?<=\s)|^)\d{1,2}[.)](?=[A-Za-z]{2})"
)
_SLASHED = re.compile(r"[A-Za-z][a-z]{3,}(?:/[a-z]{4,})+|[A-Z][A-Za-z0-9]{1,4}(?:/[A-Z][A-Za-z0-9]{1,4}){2,}")
_DRUG = re.compile(
    r"(?:cillin|bactam|pril|sartan|olol|thiazide|dipine|statin|azole|prim|codone|phen|morphone|sone|olone|terol|ium|ide|ine"
    r"|m[iy]cin|oxacin|arin|pirin|am|ate|nib|vir|platin|taxel)$"
)
_BLANKS = re.compile(r"\s*")
_ITEM_MARK = re.compile(r"[-–*+>#•]\s*(?=[A-Za-z])")


def trimmed(doc: Doc, runs: Iterable[Sequence[int]], line_ends: Collection[int]) -> list[list[Offsets]]:
    """Cut mentions where none may begin, end or go on.

    No mention has half a bracket ("(IL-6) levels" tagged from "IL-6" on becomes two), goes over the end of an
    item, or begins with a negation, so that components that look for negations still see it. Doses, values and
    the headings of notes are in none.

    Args:
        doc: the document.
        runs: the tokens of each mention, at least one.
        line_ends: tokens at which a line ends, probably with its sentence; not within a mention that has words
            around it.

    Returns:
        Of each mention the pieces that have letters or digits, as character offsets. They may
        begin or end within a token, as in "fever/chills".
    """
    text = doc.text
    left_out = sorted(match.span() for pattern in (_NEGATION, _HEADING) for match in pattern.finditer(text))
    doses = doses_of(text)
    return [
        [
            narrow
            for piece in _pieces(doc, tokens, line_ends)
            for item in _items(text, *piece)
            if (narrow := _narrowed(text, *item, left_out, doses)) is not None
        ]
        for tokens in runs
    ]


def _pieces(doc: Doc, tokens: Sequence[int], line_ends: Collection[int]) -> Iterator[Offsets]:
    """The parts of a mention between line ends and brackets without their other half."""
    cuts = {tokens[position] for position in _unpaired_brackets([doc[i].text for i in tokens])}
    if not _is_within_line(doc, tokens):
        cuts.update(line_ends)
    pieces: list[list[int]] = [[]]
    for i in range(tokens[0], tokens[-1] + 1):
        if i in cuts:
            pieces.append([])
        elif not doc[i].is_space:
            pieces[-1].append(i)
    for piece in filter(None, pieces):
        yield doc[piece[0]].idx, doc[piece[-1]].idx + len(doc[piece[-1]])


def _items(text: str, start: int, end: int) -> Iterator[Offsets]:
    """The items of a list that is tagged as one mention; separators in brackets, as in "t(8;21)", are none."""
    if _SLASHED.fullmatch(text, start, end) and not _is_product(text[start:end].split("/")):
        separators: Iterable[Offsets] = [match.span() for match in re.finditer("/", text[start:end])]
    else:
        found = _SEPARATOR.finditer(text[start:end])
        separators = [match.span() for match in found if not _is_in_brackets(text[start : start + match.start()])]
    first = start
    for separator_start, separator_end in separators:
        yield first, start + separator_start
        first = start + separator_end
    yield first, end


def _is_product(words: Sequence[str]) -> bool:
    """Whether all words end as names of drugs do: "piperacillin/tazobactam" is one product."""
    return all(map(_DRUG.search, words))


def _is_in_brackets(before: str) -> bool:
    return any(before.count(opening) > before.count(closing) for closing, opening in _OPENING.items())


def _narrowed(text: str, start: int, end: int, left_out: Sequence[Offsets], doses: Sequence[Offsets]) -> Offsets | None:
    """A mention without what it may not begin or end with; None = nothing is left."""
    mark = _ITEM_MARK.match(text, start)
    if mark is not None and not text[text.rfind("\n", 0, start) + 1 : start].strip():
        start = mark.end()
    for first, last in left_out[max(0, bisect_right(left_out, (start, start)) - 1) :]:
        if first > start:
            break
        if start < last:
            start = _BLANKS.match(text, last).end()  # type: ignore[union-attr]
    if start >= end:
        return None
    start, end = without_values(text, start, end, doses)
    kept = text[start:end]
    start += len(kept) - len(kept.lstrip())
    start, end = _with_other_halves(text, start, start + len(kept.strip()))
    return (start, end) if any(map(str.isalnum, text[start:end])) else None


def _unpaired_brackets(words: Sequence[str]) -> list[int]:
    """Find brackets without their other half. One inside a longer word, as in "poly(ADP-ribose)", pairs with
    others, but is not reported.

    Args:
        words: of a mention, say.

    Returns:
        The positions of words that are such a bracket and nothing else, in order.
    """
    unpaired: list[int] = []
    unclosed: list[tuple[str, int]] = []  # bracket and its word
    for position, word in enumerate(words):
        for character in filter(_BRACKETS.__contains__, word):
            if character not in _OPENING:
                unclosed.append((character, position))
            elif unclosed and unclosed[-1][0] == _OPENING[character]:
                unclosed.pop()
            else:
                unpaired.append(position)
    unpaired += [position for _, position in unclosed]
    return sorted(position for position in unpaired if words[position] in _BRACKETS)


def _with_other_halves(text: str, start: int, end: int) -> Offsets:
    """Extend a mention to brackets next to it whose other half is inside one of its words, which cannot be
    cut: "poly(ADP-ribose" becomes "poly(ADP-ribose)".

    Args:
        text: of the document.
        start: where the mention begins.
        end: where it ends.

    Returns:
        The same or a longer mention.
    """
    depth = lowest = 0
    for character in text[start:end]:
        depth += (character in _OPENING.values()) - (character in _OPENING)
        lowest = min(lowest, depth)
    while lowest < 0 and start and text[start - 1] in _OPENING.values():
        start, lowest, depth = start - 1, lowest + 1, depth + 1
    while depth > 0 and text[end : end + 1] in _OPENING:
        end, depth = end + 1, depth - 1
    return start, end


def _is_within_line(doc: Doc, words: Sequence[int]) -> bool:
    """Whether a stretch of tokens has words before and after it on its lines, as in a
    sentence: "with rheumatoid arthritis was"."""
    before, after = doc[max(0, words[0] - 1) : words[0]].text, doc[words[-1] + 1 : words[-1] + 2].text
    return before.isalpha() and (after.isalpha() or after == ".")

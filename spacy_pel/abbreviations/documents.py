"""What the short forms of a document stand for: as it defines them, or an earlier passage of its article; and the items
of a list that share a word."""

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, zip_longest
from operator import itemgetter
from typing import Any

from spacy.tokens import Doc

from .definitions import find_abbreviations, other_number
from .short_forms import LISTED, Sense, clinical

LongForms = dict[str, list[tuple[int, str]]]  # short form -> first character of each place, what it stands for there
KNOWN = "pel_known_abbreviations"  # short and long texts, in ``doc.user_data`` where spaCy stores extensions
_AROUND_SHORT = " ()[]\"'\u2018\u2019\u201c\u201d"
_BEFORE_SHORT = re.compile(f"[{re.escape(_AROUND_SHORT)}]+")

# "B", "B6", "-8", "1\u03b2", "17A", "IV"; but not "8 weeks", "B cells", "E. coli" or "C-reactive"
_COUNTED = (
    "h|min|kDa|cases|controls|children|days?|healthy|hours?|men|mice|months?|patients|rats|subjects|weeks?|women|years?"
)
_OWN = "access|antibiotics?|cells?|coli|difficile|dimers?|fib|fluids?|lymphocytes?|peptides?|scans?|scores?|sections?"
_GREEK = r"(?:alpha|beta|gamma|delta|[\u03b1-\u03b4])"
_KIND = (
    rf"(?:(?:[A-Z]\d{{0,2}}|[IVX]{{1,4}})(?!\s(?:{_OWN})\b|\.\s[a-z]|-(?!\w+ed\b|positive|negative)[a-z])|{_GREEK}\d?"
    rf"|\d{{1,3}}(?:[A-Z]|{_GREEK})?(?!\s(?:{_COUNTED})\b))(?![A-Za-z0-9])"
)
_AND = r"(?:,?\s+(?:and|or|and/or|&|as\s+well\s+as)\s+)"
# "hepatitis B/C", "IL-4/13", "IL-4/-13"; but "ERK1/2" is one name
_SLASH = r"(?:(?:(?<=[ /-][A-Z\d])|(?<=[ /-][A-Z]\d))/|/(?=-))"
# "hepatitis A, B and C"; "hepatitis C, D" and "IL-6, -8, and TNF" if the last item ends there
_KINDS = re.compile(
    rf"\b([A-Za-z]{{2,}})([ -]?)({_KIND}(?:(?:,\s*|{_SLASH})-?{_KIND})*"
    rf"(?:(?:{_AND}|{_SLASH})-?{_KIND}|,\s+(?:-{_KIND}|[A-Z])(?=$|[;)\]]|\.(?!\S)|,?\s(?:and|or)\b)))"
)
# "B and T cells", "B- and T-cell lymphoma", "T, B and NK cells"
_LETTERS = re.compile(
    rf"\b([A-Z]-?(?:,\s*[A-Z]-?){{0,3}}){_AND}([A-Z]{{1,2}})[ -]((?:cells?|lymphocytes?|waves?)\b(?:\s[a-z]{{4,}})?)"
)
_LETTER = re.compile("[A-Z]-?")
_ONE_KIND = re.compile(rf"-?{_KIND}")
_TAIL = re.compile(r"\s+([a-z]{4,}(?:\s+[a-z]{4,})?)")
# after "T" of "T and B lymphocytes", "T- and B-cells", or "lung" of "lung, breast and colon cancer"
_SHARED = re.compile(rf"-?(?:,\s*[\w-]+?){{0,3}}{_AND}[\w+]+[\s-]([a-z]{{4,}}(?:\s+[a-z]{{4,}}){{0,2}})\b")
_LAST_WORD = re.compile(rf"(?:(?<=-)|-){_AND}([a-z]{{7,}})\b")  # of "hypo- and hyperthyroidism"
_WITH_NEXT = re.compile(r"[A-Z]+\d*[\s-][a-z]+")
# labels of words that are not meant as the names that they are, if the last item has another label, or the same one
_SITES = ("ANATOMICAL_STRUCTURE", "SPATIAL_CONCEPT")
_PARTS = ("BIOLOGIC_FUNCTION", "HEALTH_CARE_ACTIVITY", "SPATIAL_CONCEPT")
_OF_ECG = re.compile(r"[\s\u2010-\u2015-](?:segment|elevat|depress|chang|deviat|abnormal)")  # after "ST"

Shortened = tuple[int, int, list[str]]  # where it is, and what it may stand for, the likeliest first


def listed_kinds(text: str) -> Iterator[list[Shortened]]:
    """The items of each list such as "hepatitis A, B and C" or "IL-6 and -8", whose first one has the word that all
    share, perhaps in the plural: "vitamins B6 and B12". Where the last one has it, "B and T cells", that one comes
    first and without names."""
    for found in _LETTERS.finditer(text):
        tails = _beginnings(found[3])
        letters = _LETTER.finditer(text, *found.span(1))
        others = [(*item.span(), [f"{item[0][0]} {tail}" for tail in tails]) for item in letters]
        yield [(*found.span(2), []), *others]
    for found in _KINDS.finditer(text):
        head, joint, _ = found.groups()
        heads = [head.removesuffix("s"), head]
        tail = _TAIL.match(text, found.end())
        tails = _beginnings(tail[1]) if tail else []
        items: list[Shortened] = []
        for kind in _ONE_KIND.finditer(text, found.start(3), found.end()):
            names = [f"{head}{joint}{kind[0].lstrip('-')}" for head in heads]
            start = kind.start() if items else found.start()
            items.append((start, kind.end(), [f"{name} {tail}" for tail in tails for name in names] + names))
        yield items


def _beginnings(words: str) -> list[str]:
    """The longest first."""
    parts = words.split()
    return [" ".join(parts[:n]) for n in range(len(parts), 0, -1)]


def whole_names(text: str, mentions: Sequence[tuple[int, int, str]], kb: Any) -> list[str | None]:
    """What mentions stand for that are items of a list and lack the word that its items share, or shorthand of
    notes.

    Args:
        text: of the document.
        mentions: start, end and label of each.
        kb: the knowledge base.

    Returns:
        A name for each; None = it is read as it is.
    """
    kinds = {start: (end, names) for start, end, names in chain.from_iterable(listed_kinds(text))}
    labels = {offset: label for start, end, label in mentions for offset in range(start, end)}
    read: list[str | None] = []
    for start, end, label in mentions:
        names: list[str] = []
        otherwise: str | None = None
        surface = text[start:end]
        bare = surface.rstrip("-")
        short_hand = "ST segment" if surface == "ST" and _OF_ECG.match(text, end) else noted(surface)
        if start in kinds and end >= kinds[start][0]:
            kind_end, whole = kinds[start]
            own = following[0] if (following := _WITH_NEXT.match(text, start)) is not None else ""
            if end > kind_end:  # "C virus infection" of "hepatitis B or C virus infection"
                names = [f"{name}{text[kind_end:end]}" for name in whole]
            elif kb.ids(own) and not any(kb.ids(f"{name}{own.removeprefix(surface)}") for name in whole[-2:]):
                names = [own]  # "A fib" of "vitamin D and A fib"; not "B virus" of "hepatitis A and B virus"
            elif {*whole[-2:]} != {surface}:
                names = [*whole, *(f"{name} virus" for name in whole)]  # "B" of "influenza A and B"
                if whole and (surface[0] == "-" or text[start - 1] == "/" or whole[-1].startswith(f"{bare} ")):
                    otherwise = whole[-1]  # not "-10", "7" of "caspase-3/7" or "B" of "B and T cells" itself
        else:
            last, shared = _LAST_WORD.match(text, end), _SHARED.match(text, end)
            names = [f"{bare}{last[1][n:]}" for n in range(2, min(7, len(last[1]) - 4))] if last else []
            if shared is not None:
                tails = _beginnings(shared[1])
                is_part = label in (_PARTS if label == labels.get(shared.start(1), "") else _SITES)
                if len(bare) > 1 and not is_part and kb.ids(surface):
                    # "systolic and diastolic heart failure", but not "pain and anxiety disorders"
                    tails = [] if " " in bare else tails[:-1]
                names += [f"{bare} {words}" for tail in tails for words in (tail, tail.removesuffix("s"))]
        if short_hand and (kb.ids(short_hand) or not kb.ids(surface)):  # a table may have "hx" as a name
            names, otherwise = [], short_hand
        read.append(next(filter(partial(_is_name, kb), names), otherwise))
    return read


def noted(form: str) -> str:
    """What "dx", "Hx" and the like stand for, which are short hand of notes everywhere; "" for other forms. In
    capitals they are other names: "TX", "FX"."""
    is_form = 1 < len(form) <= 3 and form.endswith("x") and form[1:].islower()
    rows = clinical().senses.get(clinical().folded.get(form.lower(), "")) if is_form else None
    return rows[0].meaning if rows and not rows[0].where else ""  # "Cx" may be a connexin


def _is_name(kb: Any, name: str) -> bool:
    """Whether a knowledge base has a name; "protein S" not if it may have it as "protein(s)" or "protein's"."""
    ids, head, end = kb.ids(name), name[:-2], name[-2:].casefold()
    return bool(ids) and (end != " s" or set(ids).isdisjoint(kb.ids(head)))


class SharedDefinitions:
    """Tells the passages of an article which abbreviations the passages before them define. What a passage
    defines itself comes first.

    Call it with the passages in order, those of an article in a row, before they go through a pipeline::

        share = SharedDefinitions()
        nlp.pipe(share(nlp.make_doc(text), article_id) for text, article_id in passages)
    """

    def __init__(self) -> None:
        self._article: Hashable = None
        self._known: dict[str, str] = {}

    def __call__(self, doc: Doc, article: Hashable) -> Doc:
        """Add what is known so far to a passage.

        Args:
            doc: the passage; only its tokens are read.
            article: identifies the article. None = the passage is a document of its own.

        Returns:
            The same Doc.
        """
        if article is None or article != self._article:
            self._article, self._known = article, {}
        if self._known:
            known = [{"short_text": short, "long_text": long_text} for short, long_text in self._known.items()]
            user_data: Any = doc.user_data
            user_data["._.", KNOWN, None, None] = known
        for found in find_abbreviations(doc) if article is not None else ():
            short, long_text = found["short_text"], found["long_text"]
            self._known[short] = long_text
            self._known.setdefault(other_number(short), long_text)
        return doc


def long_forms(doc: Doc) -> LongForms:
    """The abbreviations that a document defines, as our detector leaves them in ``doc._.pel_abbreviations``
    and scispaCy's in ``doc._.abbreviations``, as spans or in its serializable form; and those that passages
    before it define, see ``SharedDefinitions``.

    Returns:
        By short form, and by place.
    """
    forms: dict[str, dict[int, str]] = {}
    user_data: Any = doc.user_data
    # as stored: read as an attribute, ours would be made into spans
    names = ("pel_abbreviations", "abbreviations", KNOWN)
    stored = (user_data.get(("._.", name, None, None)) or () for name in names)
    for definition in chain.from_iterable(stored):
        if isinstance(definition, dict):
            short, long_form = definition["short_text"], definition["long_text"]
            token = definition.get("short_start", 0)  # another detector may not say where
            start = doc[token].idx if token < len(doc) else len(doc.text)
        else:
            short, start = definition.text, definition.start_char
            long_form = getattr(definition._.long_form, "text", definition._.long_form)
        forms.setdefault(short, {}).setdefault(start, long_form)
    return {short: sorted(places.items()) for short, places in forms.items()}


def listed_in(doc: Any, *, offset: int = 0) -> dict[tuple[int, int], Sense]:
    """What lists say of a document, as ``AbbreviationDetector`` leaves it.

    Args:
        doc: the document, or a piece of one.
        offset: where the piece begins.

    Returns:
        By first character and end.
    """
    records = doc.user_data.get(("._.", LISTED, None, None)) or ()
    return {(offset + start, offset + end): Sense(*sense) for start, end, *sense in records}


def long_form_at(forms: LongForms, short: str, start: int) -> str | None:
    """What a short form stands for at a character of the text: what it does where it
    occurs there or last before, or else first; None = it is no short form."""
    places = forms.get(short)
    return places[max(0, bisect_right(places, start, key=itemgetter(0)) - 1)][1] if places else None


def spelled_out(
    mentions: Iterable[tuple[str, int]], forms: LongForms, names: Iterable[str | None] = ()
) -> list[str | None]:
    """The long forms of mentions that are an abbreviation, or a long form followed by its abbreviation.

    Args:
        mentions: the text of each, e.g. "PCOS" or "polycystic ovary syndrome (PCOS)", and its first character.
        forms: from ``long_forms``.
        names: from ``whole_names``, for those that are neither of these.

    Returns:
        The long form of each; None if the mention is neither of these.
    """
    return [
        (long_form_at(forms, text, start) if text in forms else _without_short_form(text, start, forms)) or name
        for (text, start), name in zip_longest(mentions, names)
    ]


def _without_short_form(mention: str, start: int, forms: LongForms) -> str | None:
    """The long form of a mention of both; None if it is something else."""
    for before in _BEFORE_SHORT.finditer(mention):
        short = mention[before.end() :].rstrip(_AROUND_SHORT)
        long_form = long_form_at(forms, short, start + before.end())
        if long_form and mention.startswith(long_form) and mention[len(long_form) :].strip(_AROUND_SHORT) == short:
            return long_form
    return None

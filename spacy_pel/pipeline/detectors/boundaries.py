"""Where a mention may begin and end, whatever tagged it: lines, items of lists, brackets, negations, doses, values and
the headings of notes; and tokens and sentences that are divided there."""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import DEP, HEAD
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup, Token

Offsets = tuple[int, int]
Knows = Callable[[Iterable[str]], bool]

# -- lines and lists: "1. HTN", "- asthma", "fever; chills"
BULLETS = "•●▪◦‣"
GLUED_NUMBER = r"\d{1,2}[.)](?=[A-Za-z]{2})"  # "1.HTN"
_NARROWEST = 40  # characters; lists aside, text is hardly ever wrapped to shorter lines
_NARROW_COLUMN, _N_RUNNING = 25, 4  # characters, if this many of the words below are nearby, as in prose
_RUNNING = frozenset("a an and as at by for from had has in is of on or that the to was were which who with".split())
# "Hypertension", "ALLERGIES:", "F41.1", "J45 Asthma"
_CAPITALISED = re.compile(r"\s*(?:[A-Z][a-z]{2}|[A-Z][A-Za-z /&-]*:|[A-Z]\d\d(?:\.\d|\s+[A-Z][a-z]))")
_JOINING = frozenset(("and", "or", "nor"))  # words that begin no line of their own
# what goes on below its line: "Denies:"; and what ends that: a heading, a sentence or a longer line
_DENIED = re.compile(r"\b(?:den(?:y|ies|ied|ying)|neg(?:ative)?(?:\s+for)?|no|without|w/o)\s*:[^\S\n]*", re.IGNORECASE)
_LONGEST_LIST = 2000  # characters
_NO_ITEM = re.compile(r"\s*$|\s*[A-Z][A-Za-z /&-]*:|.*\w\.\s*$|\s*(?:\S+\s+){5}\S")
# what begins an item: "-", "2.", "(3)", "#4", "[x]", "b)", "ii."; not "E." of "E. coli"
_MARK = re.compile(
    r"[^\S\n]*(?:\d{1,2}[.)](?=[A-Za-z])"
    rf"|(?:[-–—*+·{BULLETS}>]|\[[ xX]?\]|\(?(?:\d{{1,2}}|[a-z])\)|\d{{1,2}}\.|#\d{{0,2}}|i{{1,3}}\.)(?=\s))"
)
_NUMBERED = re.compile(r"(?<!\S)\(?(\d{1,2})[.)](?=\s|[A-Za-z])")  # "1." in "1. asthma 2. gout"
_FIRST = re.compile(r"[:;\n]\s*$|^\s*$")
_NEAR = 5  # characters
# between the items of a list. A plus is one between words, not after a sign of charge or of a marker: "CD4+ cells"
_SEPARATOR = re.compile(
    rf"\s*[;|\t]\s*|\s*[{BULLETS}]\s*(?=[A-Za-z])|\s+nor\s+|(?:(?<=\s)|^){GLUED_NUMBER}"
    r"|(?<=[A-Za-z]{2})(?:\+|\s\+\s)(?=[A-Za-z]{2,}(?![\w+]))"
)
_SLASHED = re.compile(r"[A-Za-z][a-z]{3,}(?:/[a-z]{4,})+|[A-Z][A-Za-z0-9]{1,4}(?:/[A-Z][A-Za-z0-9]{1,4}){2,}")
_SIGNS = re.compile(r"[/\\&]+")  # between two names without blanks
_ACRONYM = re.compile(r"[A-Z][A-Za-z]\S*")
_DRUG = re.compile(
    r"(?:cillin|bactam|pril|sartan|olol|thiazide|dipine|statin|azole|prim|codone|phen|morphone|sone|olone|terol|ium|ide|ine"
    r"|m[iy]cin|oxacin|arin|pirin|am|ate|nib|vir|platin|taxel)$"
)
_BETWEEN = re.compile(r"[\s.,:;]*")
_AT_END = re.compile(r"(?:\s+(?:of|the|and|or))*\s*$")  # no name ends so
_ITEM_MARK = re.compile(r"[-–=~*+>#•]+\s*(?=[A-Za-z])")

# -- brackets
_OPENING = {")": "(", "]": "[", "}": "{"}

# -- what a mention does not begin with
# "NO" is nitric oxide unless the word after it is in capitals, too: "NO FEVER", but not "NO synthase"
_NEGATION = re.compile(
    r"(?<![\w-])(?:"
    r"(?i:no|without|w/o)\s+(?:\w+\s+)?(?i:evidence|signs?|symptoms?|history|hx|complaints?|indication)\s+(?i:of)"
    r"|(?i:neg(?:ative)?\s+for|free\s+of|absence\s+of|ruled?\s+out)"
    r"|(?i:not|without|w/o|r/o|never(?:\s+had)?|n?either|nor|none|den(?:y|ies|ied|ying))"
    r"|(?i:hx\s+of|[hce]/o|s/p|nil|[+-]ve(?:\s+for)?)"  # shorthand that ConText knows, not all of it negations
    r"|[Nn]o|NO(?=\s+[A-Z]{3,}\b)"
    r"|[Tt]he"  # nor is this one; "a" may be a letter of the name: "A fib"
    r")(?:\s+(?i:any))?(?![\w-])"
)
# people: "Dr. Poe", "Drs Kumar and Lee". In other letters a title may be an illness, "history of ms."; see _people
_BLANK = r"[^\S\n]{1,3}"
_SURNAME = rf"(?:(?:v[ao]n|de[lnr]?|d[aiu]|l[ae]|ter){_BLANK}){{0,2}}[A-ZÀ-ÖØ-Þ](?:['’-]?[A-Za-zÀ-ÖØ-öø-ÿ])*[a-zß-öø-ÿ]"
_INITIALS = r"(?:[A-Z]\.[^\S\n]?){0,3}"
_NAME = rf"{_BLANK}{_INITIALS}{_SURNAME}(?:{_BLANK}{_SURNAME})?"
_CAPITALS = rf"{_BLANK}{_INITIALS}[A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ'’-]{{2,}}\b"
_CALLED = rf"(?:dr|mrs?|ms)\.{_NAME}|DRS?\.{_CAPITALS}"
_TITLED = rf"(?:(?:dr|mrs?|ms)\.(?:{_NAME}|{_BLANK}[a-z]{{2,}})|(?:DRS?|M[RS])\.?{_CAPITALS})"
_ROLES = "attending referring ordering admitting consulting physician provider surgeon pcp cc"
_AFTER_ROLE = "|".join(rf"(?<=\b{role}:\s)" for role in _ROLES.split())
_PERSON = re.compile(
    rf"(?<![\w-])(?:(?P<sure>(?:(?:Dr|Mrs?|Ms|Prof|Sgt|Capt)\.?|(?:Sr|Fr|Rev|Lt|Col)\.){_NAME}"
    rf"|Drs\.?(?:{_NAME},?{_BLANK}and)?{_NAME}"
    rf"|(?:Dr|Mr|MRS|PROF)\.?{_CAPITALS}|(?i:{_AFTER_ROLE}){_TITLED}"
    rf"|(?:(?<![^\n])|(?i:(?<=\sby\s)|(?<=\swith\s)|(?<=\sto\s)|(?<=\ssaw\s)|(?<=\sper\s)))(?:{_CALLED})"
    # a sentence that goes on
    rf"|(?:(?<![^\n])|(?<=\w\w[.!?]\s))(?=\w+\.){_TITLED}(?=\s(?!(?i:and|or|with)\b)[A-Za-z]{{2}}))|{_TITLED})"
)
_AND = re.compile(r"[^.;\n]{0,40}?(?:[/,&]|\b(?i:and))\s?")
# "Jane Poe, MD", but not "Muscular Dystrophy, MD"
_CREDENTIALS = re.compile(
    rf"\b(?P<first>{_SURNAME}){_BLANK}{_INITIALS}(?P<last>{_SURNAME})"
    r"(?P<degrees>(?:,\s?(?P<degree>MD|MBBS|DO|RN|LPN|PA-C|F?NP|PhD|PharmD|FACP|DDS|DMD|BDS|D[PV]M|BVSc))+)"
    r"(?=[.,;)]|$|\s[a-z\s])"
)
_HEADINGS = (
    r"(?i:pmhx?|pshx?|hpi|fhx?|shx?|hx|a/p|(?:past |prior )?(?:medical|surgical|family|social) history"
    r"|history of present illness|chief complaint|reason for (?:visit|admission)|hospital course"
    r"|(?:current |home |discharge )?med(?:ication)?s|(?:drug )?allergies|physical exam(?:ination)?|vital signs|vitals"
    r"|labs|problem list|problems?|diagnos[ei]s|assessment|(?:assessment(?: and |/))?plan|impression|findings"
    r"|(?:in|ex)clusion(?: criteria)?|reports?|contrast|comparison|technique|indications?|exam(?:ination)?"
    r"|procedures?|history|route|drug|dos(?:e|age)|frequency|results?|specimen|(?:clinical|patient) information"
    r"|(?:admission|discharge|admitting|(?:pre|post)-?operative) diagnos[ei]s|(?:discharge )?(?:condition|disposition)"
    r"|reference range|review of systems|ros)"
)
_IN_CELL = r"[^\S\n\t]*"
# before a colon, or alone in a line or in a column of a table; a text of one line is no note
_HEADING = re.compile(
    rf"(?<![\w-]){_HEADINGS}\s?:|(?:(?<=[\n\t|])|^(?=.*[\n\t|])){_IN_CELL}{_HEADINGS}{_IN_CELL}(?=[\n\t|]|$)"
)
# what stands for what was taken out of a note: "[**Hospital1 18**]", "Hospital1", "<NAME>", "___", "XXXX"
_PLACEHOLDER = re.compile(
    r"\[\*\*.{0,100}?\*\*\]|<[A-Z][A-Z_-]*\d*>|(?<!\w)_{2,}(?!\w)|\b[Xx]{3,}\b"
    r"|\b(?:Hospital|Location|Name|Doctor|Patient|Date|Address|Phone|(?:Fir|La)stname)\d+\b"
)
# a code of ICD-10: "E11.9"; "I10" beside others or "ICD", at the start of a line or in brackets; not "vitamin B12"
_CODE = re.compile(
    r"(?<![\w.-])(?P<placed>(?:(?<![^\n])|(?<=\())(?=...[\s):]))?[A-TV-Z]\d[0-9A-Z](?P<sure>\.[0-9A-Z]{1,4})?(?![\w-]|\.\w)"
)

# -- doses, laboratory values and vital signs: "aspirin 81 mg daily", "glucose 212 mg/dL", "Na 138"
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?|\.\d+)"
# bounded: it is looked for at each number of a row of numbers, "1 - 2 - 3"
_RANGE = rf"[<>≤≥=~]?\s?{_NUMBER}(?:\s?[-–x×/]\s?{_NUMBER}){{0,4}}(?:\^\d+)?"
# one letter is a unit only after a blank: "1 g", but not the compound "11g"
_UNIT = (
    r"(?:mcg|mg|[µμu]g|ng|pg|kg|m[lL]|d[lL]|mmol|[µμun]mol|[mµμun]M|mEq|meq|m?IU|[Uu]nits?|mm\s?Hg|bpm|mm|cm|%"
    r"|°\s?[CF]|(?<=\d\d\s)[CF]|(?<=\.\d\s)[CF]|(?<=\s)[gLU]|/(?:[uµμ]?[lL]|mm3|min))"
)
# after a blank, a sign or a word, "metformin500mg", but not inside a name, "sCD40L"
_DOSE = re.compile(rf"(?:(?<![\w.,-])|(?<=[a-z]{{4}})){_RANGE}\s?{_UNIT}(?![A-Za-z0-9])")
_BEFORE_DOSE = re.compile(r"[\s:=<>≤≥~,(\[-]*(?:\s(?:of|at|is|was|to|by|x))?[\s:=(\[]*$")
_AFTER_DOSE = re.compile(r"(?:/\S+)?[\s,.]*(?:of\s)?")
_OPEN_BRACKET = re.compile(r"[\s,]*[(\[](?:[^()\[\]]|\([^()]*\)|\[[^\[\]]*\])*$")
_VALUE = re.compile(
    rf"([A-Za-z]\w*)(?:\s?[:=<>≤≥]\s?|\s(?:of\s|is\s|was\s)?)(\d{{2,}}|\d+\.\d+|{_NUMBER}/\d+)\s?[HL]?$"
)
_FRACTION = re.compile(r"\s\d{2,3}/\d{2,3}$|(?i:(?<=pain)\s\d{1,2}/10$)")  # a blood pressure, "pain 7/10"
# what a bare number is a value of; "T" and "K" are left out, as in "T 4" and "vitamin K 12"
_MEASURED = frozenset(
    "Na Cl CO2 HCO3 BUN Cr SCr Glu Gluc Ca Mg Phos WBC RBC Hgb HGB Hb HB Hct HCT Plt PLT Plts MCV INR PT PTT AST ALT "
    "ALP LDH LDL HDL TSH CRP ESR BNP A1c A1C HbA1c HbA1C PSA GFR eGFR ANC pH pO2 pCO2 SpO2 SaO2 BP HR RR BMI GCS "
    "Temp EF".split()
)
_MEASURED_WORDS = frozenset(
    "sodium potassium chloride bicarbonate creatinine glucose calcium magnesium phosphorus phosphate hemoglobin "
    "haemoglobin hematocrit haematocrit platelets bilirubin albumin lactate lipase amylase troponin ferritin urea "
    "triglycerides cholesterol temperature pulse pressure rate weight sat saturation".split()
)
_CELL_LINES = frozenset({"HCT 116"})


def has_blank_line(text: str) -> bool:
    """Whether there is a line without words between two lines of a text."""
    return any(not line.strip() for line in f"x{text}x".splitlines())


class Breaks(NamedTuple):
    """Tokens at which the items of a list, the lines of a note or the words of a text end, or do not.

    Attributes:
        certain: no mention crosses them: blank lines, tabs and bars, what marks an item at the start of a
            line ("-" or "2.") or in a numbered list, and line breaks before a capitalised word or a heading.
        likely: other line breaks where text does not seem to be wrapped, as the line is very short or
            the next word would have fitted on it.
        within_word: tokens that begin between two letters of a word.
    """

    certain: set[int]
    likely: set[int]
    within_word: set[int]


def breaks_of(doc: Doc) -> Breaks:
    """Of a document."""
    breaks = Breaks(set(), set(), set())
    lines = doc.text.splitlines(keepends=True)
    ends = list(accumulate(map(len, lines)))
    marks = {offset for span in _marks(doc.text) for offset in range(*span)}
    is_after_letter = False
    for token in doc:
        if is_after_letter and token.text[:1].isalpha():
            breaks.within_word.add(token.i)
        is_after_letter = not token.whitespace_ and token.text[-1:].isalpha()
        if not token.is_space:
            if token.text == "|" or marks.issuperset(range(token.idx, token.idx + len(token))):
                breaks.certain.add(token.i)
        elif token.text.strip(" \xa0") == "\t":  # a column of a table
            breaks.certain.add(token.i)
        elif token.idx + len(token) >= ends[line := bisect_right(ends, token.idx)]:
            following = "".join(lines[line + 1 : line + 2])
            if has_blank_line(token.text) or _CAPITALISED.match(following) or _MARK.match(following):
                breaks.certain.add(token.i)
            elif not _is_wrapped(lines, line):
                breaks.likely.add(token.i)
    return breaks


def _marks(text: str) -> Iterator[Offsets]:
    """What marks the items of lists: bullets and numbers at the start of a line, and numbers from 1 on within
    one."""
    start = 0
    for line in text.splitlines(keepends=True):
        if (mark := _MARK.match(line)) is not None:
            yield start, start + mark.end()
        start += len(line)
    numbers: list[Offsets] = []
    for number in _NUMBERED.finditer(text):
        before = text[max(0, number.start() - _NEAR) : number.start()]
        if int(number[1]) == len(numbers) + 1 and (numbers or _FIRST.search(before)):
            numbers.append(number.span())
    if len(numbers) > 1:
        yield from numbers


def _is_wrapped(lines: Sequence[str], number: int) -> bool:
    """Whether text seems to be wrapped after this line."""
    line, following = lines[number].rstrip(), "".join(lines[number + 1 : number + 2]).split()
    width = max(len(near.rstrip()) for near in lines[max(0, number - 1) : number + 2])
    near = _RUNNING.intersection(" ".join(lines[max(0, number - 2) : number + 4]).split())
    least = _NARROW_COLUMN if len(near) >= _N_RUNNING else _NARROWEST
    is_long = len(line.lstrip()) >= least
    return bool(following) and (following[0] in _JOINING or (is_long and len(line) + 1 + len(following[0]) > width))


def trimmed(doc: Doc, runs: Iterable[Sequence[int]], line_ends: Collection[int], knows: Knows) -> list[list[Offsets]]:
    """Cut mentions where none may begin, end or go on.

    No mention has half a bracket ("(IL-6) levels" tagged from "IL-6" on becomes two), goes over the end of an
    item, or begins with a negation, so that components that look for negations still see it. Doses, values,
    people with their titles, the headings of notes, placeholders, codes of ICD-10 and articles alone are in none.

    Args:
        doc: the document.
        runs: the tokens of each mention, at least one.
        line_ends: tokens at which a line ends, probably with its sentence; not within a mention that has words
            around it.
        knows: tells whether one of some texts is a known name.

    Returns:
        Of each mention the pieces that have letters or digits, as character offsets. They may
        begin or end within a token, as in "fever/chills".
    """
    text = doc.text
    found = (match.span() for one in (_NEGATION, _HEADING, _PLACEHOLDER) for match in one.finditer(text))
    left_out = sorted([*found, *_codes(text), *_people(text)])
    doses = [match.span() for match in _DOSE.finditer(text)]
    return [
        [
            narrow
            for piece in _pieces(doc, tokens, line_ends)
            for item in _items(text, *piece, knows)
            if (narrow := _narrowed(text, *item, left_out, doses)) is not None
        ]
        for tokens in runs
    ]


def _codes(text: str) -> list[Offsets]:
    """Codes of ICD-10."""
    codes = list(_CODE.finditer(text))
    is_coded = "ICD" in text or any(code["sure"] for code in codes)
    return [code.span() for code in codes if code["sure"] or (is_coded and code["placed"] is not None)]


def _people(text: str) -> Iterator[Offsets]:
    """People with their titles, and what stands after their names. A title that may be an illness is one in a place
    for people: "seen by DR. POE", "CC: DR POE", in a sentence that it begins, or after another person, "DR. POE AND
    DR. LEE"."""
    last: int | None = None  # where a person ends
    for match in _PERSON.finditer(text):
        if match["sure"] or (last is not None and _AND.fullmatch(text, last, match.start())):
            last = match.end()
            yield match.span()
    for match in _CREDENTIALS.finditer(text):
        if not match["degree"].endswith(match["first"][0] + match["last"][0]):
            yield match.span("degrees")


def _pieces(doc: Doc, tokens: Sequence[int], line_ends: Collection[int]) -> Iterator[Offsets]:
    """The parts of a mention between line ends and brackets without their other half."""
    start = doc[tokens[0]].idx
    unpaired = {start + position for position in _unpaired(doc[tokens[0] : tokens[-1] + 1].text)}
    cuts = {i for i in tokens if len(doc[i]) == 1 and doc[i].idx in unpaired}
    if not _is_within_line(doc, tokens):
        cuts.update(line_ends)
    pieces: list[list[Token]] = [[]]
    for token in doc[tokens[0] : tokens[-1] + 1]:
        if token.i in cuts:
            pieces.append([])
        elif not token.is_space:
            pieces[-1].append(token)
    for piece in filter(None, pieces):
        yield piece[0].idx, piece[-1].idx + len(piece[-1])


def are_names(text: str, knows: Knows) -> bool:
    """Whether what is one word, "AST/ALT", is names with only signs between them: those that are known, or acronyms
    beside one, if it is not known as a whole.

    Args:
        text: the word.
        knows: tells whether one of some texts is a known name.
    """
    parts = list(filter(None, _SIGNS.split(text)))
    n_drugs = sum(_DRUG.search(part) is not None for part in parts)
    if _SLASHED.fullmatch(text):  # words that all end as names of drugs do, "piperacillin/tazobactam", are one product
        return n_drugs < len(parts)
    if len(parts) < 2 or n_drugs or min(map(len, parts)) < 2 or len(text.split()) > 1 or knows([text]):
        return False
    n_known = sum(knows([part]) for part in parts)
    return n_known == len(parts) or (n_known > 0 and all(map(_ACRONYM.fullmatch, parts)))


def _items(text: str, start: int, end: int, knows: Knows) -> Iterator[Offsets]:
    """The items of a list that is tagged as one mention; separators in brackets, as in "t(8;21)", are none."""
    pattern = _SIGNS if are_names(text[start:end], knows) else _SEPARATOR
    first = start
    for match in pattern.finditer(text[start:end]):
        if pattern is _SIGNS or not _is_in_brackets(text[start : start + match.start()]):
            yield first, start + match.start()
            first = start + match.end()
    yield first, end


def _is_in_brackets(before: str) -> bool:
    return any(before[position] not in _OPENING for position in _unpaired(before))


def _narrowed(text: str, start: int, end: int, left_out: Sequence[Offsets], doses: Sequence[Offsets]) -> Offsets | None:
    """A mention without what it may not begin or end with; None = nothing is left."""
    mark = _ITEM_MARK.match(text, start)
    if mark is not None and not text[text.rfind("\n", 0, start) + 1 : start].strip():
        start = mark.end()
    for first, last in left_out[max(0, bisect_right(left_out, (start, start)) - 1) :]:
        if first > start:
            break
        if start < last:
            start = _BETWEEN.match(text, last).end()  # type: ignore[union-attr]
    if start >= end:
        return None
    start, end = _without_values(text, start, end, doses)
    kept = _AT_END.sub("", text[start:end].replace("/", " ").replace("\\", " "))  # as in "HTN /DM/ CAD"
    start += len(kept) - len(kept.lstrip())
    start, end = _with_other_halves(text, start, start + len(kept.strip()))
    kept = text[start:end]
    return (start, end) if any(map(str.isalnum, kept)) and kept not in ("a", "an") else None


def _unpaired(text: str) -> list[int]:
    """The positions of brackets without their other half, in order."""
    unpaired: list[int] = []
    unclosed: list[int] = []
    for position, character in enumerate(text):
        if character in _OPENING.values():
            unclosed.append(position)
        elif unclosed and text[unclosed[-1]] == _OPENING.get(character):
            unclosed.pop()
        elif character in _OPENING:
            unpaired.append(position)
    return sorted(unpaired + unclosed)


def _with_other_halves(text: str, start: int, end: int) -> Offsets:
    """Extend a mention to brackets next to it whose other half is inside one of its words, which cannot be
    cut: "poly(ADP-ribose" becomes "poly(ADP-ribose)"."""
    for bracket in [text[start + position] for position in _unpaired(text[start:end])]:
        if bracket in _OPENING and text[start - 1 : start] in _OPENING.values():
            start -= 1
        elif bracket not in _OPENING and text[end : end + 1] in _OPENING:
            end += 1
    return start, end


def _is_within_line(doc: Doc, words: Sequence[int]) -> bool:
    """Whether a stretch of tokens has words before and after it on its lines, as in a
    sentence: "with rheumatoid arthritis was"."""
    before, after = doc[max(0, words[0] - 1) : words[0]].text, doc[words[-1] + 1 : words[-1] + 2].text
    return before.isalpha() and (after.isalpha() or after == ".")


def _without_values(text: str, start: int, end: int, doses: Sequence[Offsets]) -> Offsets:
    """Find the name in a mention that also has a dose or a value.

    Numbers that are part of a name stay: "type 2 diabetes", "stage 3", "vitamin B12", "interleukin 6". A number
    without a unit is a value only after the name of something that is measured, and a percentage only at the end.

    Returns:
        Where the name begins and ends; both the same if the mention is only a dose, such as "500 mg".
    """
    for dose_start, dose_end in doses[max(0, bisect_right(doses, (start, start)) - 1) :]:
        if dose_start >= end:
            break
        if dose_end <= start or (text[dose_end - 1] == "%" and dose_end < end):
            continue
        name = _BEFORE_DOSE.sub("", text[start:dose_start]) if dose_start > start else ""
        if name:
            if not _goes_on_after_brackets(text[start:dose_start], text[dose_end:end]):
                end = start + len(_OPEN_BRACKET.sub("", name))
            return start, end
        start = min(end, _AFTER_DOSE.match(text, dose_end).end())  # type: ignore[union-attr]
    value = _VALUE.search(text[start:end])
    if value is not None and value[0] not in _CELL_LINES:
        if value[1] in _MEASURED or value[1].lower() in _MEASURED_WORDS or (value[1] == "K" and "." in value[2]):
            return start, start + value.end(1)
    return start, start + len(_FRACTION.sub("", text[start:end]))


def _goes_on_after_brackets(before: str, after: str) -> bool:
    """Whether a dose is in brackets inside a name: "birth weight (<1000 g) infants"."""
    return _is_in_brackets(before) and any(map(str.isalnum, re.split(r"[)\]]", after, maxsplit=1)[-1]))


def split_tokens(doc: Doc, mentions: Iterable[Offsets]) -> None:
    """Split tokens in place, so that mentions begin and end with tokens. Span groups keep their text; a
    ``Span`` that was made before must not be used any more.

    Args:
        doc: the document.
        mentions: character offsets, end exclusive.
    """
    cuts: dict[int, set[int]] = {}  # token -> its characters that begin a new token
    for mention in mentions:
        if doc.char_span(*mention) is not None:
            continue
        span: Any = doc.char_span(*mention, alignment_mode="expand")
        for token in (span[0], span[-1]):
            inner = {offset - token.idx for offset in mention if 0 < offset - token.idx < len(token)}
            cuts.setdefault(token.i, set()).update(inner)
    if not cuts:
        return
    groups = [
        (key, group.attrs, [(s.start_char, s.end_char, s.label, s.kb_id, s.id) for s in group])
        for key, group in doc.spans.items()
    ]
    with doc.retokenize() as retokenizer:
        for i, inner in cuts.items():
            token = doc[i]
            parts = [token.text[start:end] for start, end in pairwise(sorted({0, *inner, len(token)}))]
            heads: Any = [(token.head, 0), *[(token, 0)] * (len(parts) - 1)]
            retokenizer.split(token, parts, heads=heads)
    n_before = 0
    for i, inner in sorted(cuts.items()):
        first = doc[i + n_before]
        n_before += len(inner)
        rest: Any = doc[first.i + 1 : i + n_before + 1]
        for token in rest:  # spaCy left what was there before, such as the start of a sentence
            token.tag, token.pos = first.tag, first.pos
            token.ent_type, token.ent_kb_id = first.ent_type, first.ent_kb_id
            token.set_morph(first.morph)
            if doc.has_annotation("DEP"):
                token.dep_ = "dep"
            else:
                token.is_sent_start = None if first.is_sent_start is None else False
    for key, attrs, spans in groups:
        made = [doc.char_span(a, b, label, kb_id, span_id=span_id) for a, b, label, kb_id, span_id in spans]
        doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=made)  # type: ignore[arg-type]


@Language.component("pel_line_sentences", assigns=["token.is_sent_start", "doc.sents"])
def set_line_sentences(doc: Doc) -> Doc:
    """Begin a sentence with each line of a note and each item of a list, so that what looks for negations does not
    read on after them. A line of wrapped text begins none.

    It may stand before or after the component that finds sentences: ``sentencizer`` and ``parser`` keep what is
    set. In a document that is parsed already, words whose head is on another line depend on the first of them. What
    "Denies:" denies below it is in its sentence.

    Args:
        doc: gets more sentences.

    Returns:
        The same Doc.
    """
    breaks = breaks_of(doc)
    # a column of a table ends no line
    starts = [i for i in sorted(breaks.certain | breaks.likely) if doc[i].text.strip(" \xa0") not in ("|", "\t")]
    starts = [next((token.i for token in doc[i:] if not token.is_space), len(doc)) for i in starts]
    denied = {offset for place in _denied(doc.text) for offset in range(*place)}
    behind_marks = {i + 1 for i in breaks.certain if not doc[i].is_space and doc[i].text != "|"} - {len(doc)}
    starts = [i for i in starts if i < len(doc) and i not in behind_marks and doc[i].idx not in denied]
    if doc.has_annotation("DEP"):
        _divide_trees(doc, starts)
    else:
        for i in [*starts, *behind_marks]:
            doc[i].is_sent_start = i not in behind_marks
    return doc


def _denied(text: str) -> Iterator[Offsets]:
    """The lists that something like "Denies:" begins, in its line or below it."""
    end = 0
    for found in _DENIED.finditer(text):
        if found.start() < end:
            continue
        rest, *lines = text[found.end() : found.end() + _LONGEST_LIST].splitlines(keepends=True) or [""]
        end = found.end() + len(rest)
        is_marked = bool(lines) and _MARK.match(lines[0]) is not None
        for line in lines if not rest.strip() else ():
            if _NO_ITEM.match(line) or (is_marked and not _MARK.match(line)):
                break
            end += len(line)
        yield found.end(), end


def _divide_trees(doc: Doc, starts: list[int]) -> None:
    """Begin sentences in a document whose sentences follow from its dependencies."""
    begins = {*starts, *(sent.start for sent in doc.sents)}
    part = np.cumsum([token.i in begins for token in doc])
    arcs: Any = doc.to_array([HEAD, DEP]).view(np.int64)
    roots: dict[int, int] = {}
    for token in doc:
        i, head = token.i, token.head.i
        if head == i or part[head] != part[i]:
            root = roots.setdefault(part[i], i)
            arcs[i] = root - i, np.uint64(doc.vocab.strings.add("ROOT" if root == i else "dep")).view(np.int64)
    doc.from_array([HEAD, DEP], arcs.view(np.uint64))

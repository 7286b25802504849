"""Doses, laboratory values and vital signs behind a name: "aspirin 81 mg daily", "glucose 212 mg/dL", "Na 138"."""

import re
from bisect import bisect_right
from collections.abc import Sequence

Offsets = tuple[int, int]

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?|\.\d+)"
_RANGE = rf"[<>≤≥=~]?\s?{_NUMBER}(?:\s?[-–x×/]\s?{_NUMBER})*(?:\^\d+)?"
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


def doses_of(text: str) -> list[Offsets]:
    """Find numbers with a unit.

    Args:
        text: of a document.

    Returns:
        Character offsets, in order.
    """
    return [match.span() for match in _DOSE.finditer(text)]


def without_values(text: str, start: int, end: int, doses: Sequence[Offsets]) -> Offsets:
    """Find the name in a mention that also has a dose or a value.

    Numbers that are part of a name stay: "type 2 diabetes", "stage 3", "vitamin B12", "interleukin 6". A number
    without a unit is a value only after the name of something that is measured, and a percentage only at the end.

    Args:
        text: of the document.
        start: where the mention begins.
        end: where it ends.
        doses: of the document.

    Returns:
        Where the name begins and ends; both the same if the mention is only a dose, such
        as "500 mg".
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
    is_open = any(before.count(bracket) > before.count(other) for bracket, other in ("()", "[]"))
    return is_open and any(map(str.isalnum, re.split(r"[)\]]", after, maxsplit=1)[-1]))

"""Text as people paste it: markup, citation marks, line ends, slashes, lists of one head, invisible characters."""

from collections.abc import Iterator, Mapping
from typing import Any

from .field import Field, Row, case

NAMES = """code,name,synonyms
X01,asthma,
X02,fever,
X03,pneumonia,
X04,metformin,
X05,cough,
X06,chronic obstructive pulmonary disease,COPD
X07,type 2 diabetes,
X08,diabetes,
X09,Helicobacter pylori infection,Helicobacter pylori
X10,Sjögren syndrome,Sjögren's syndrome
X11,Crohn's disease,
X12,obesity,
X13,rheumatoid arthritis,
X14,hypertension,HTN
X15,non-small cell lung cancer,
X16,small cell lung cancer,
X17,pre-eclampsia,
X18,eclampsia,
X19,hypotension,
X20,chronic kidney disease,
X21,congestive heart failure,CHF
X22,coronary artery disease,CAD
X23,HIV,
X24,AIDS,
X25,diabetes mellitus,DM
X26,obstructive sleep apnea,OSA
X27,hepatitis A,
X28,hepatitis B,
X29,hepatitis C,
X30,vitamin B6,
X31,vitamin B12,
X32,IL-6,
X33,IL-8,
X34,lung cancer,
X35,breast cancer,
X36,colon cancer,
X37,asthma attack,
X38,hypertensive crisis,
X39,GERD,
X40,IBS,
X41,myocardial infarction,MI
X42,postoperative pain,
"""
# of the default's knowledge base; other mentions only have to be linked
CUIS = {
    "asthma": "C0004096",
    "fever": "C0015967",
    "pneumonia": "C0032285",
    "metformin": "C0025598",
    "type 2 diabetes": "C0011860",
    "rheumatoid arthritis": "C0003873",
    "obesity": "C0028754",
    "hypotension": "C0020649",
    "chronic kidney disease": "C1561643",
    "non-small cell lung cancer": "C0007131",
}
_WRONG = {"br", "em", "i", "amp", "bull", "eclampsia", "tension", "disease", "-8"}

# text -> mention as it is written: its name
Rights = Mapping[str, Mapping[str, str]]


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


def _rows(field: Field, rights: Rights) -> Iterator[Row]:
    """By the default pipeline, then by a table of the same names."""
    table = field.quickstart_of(NAMES, "names")
    for text, right in rights.items():
        yield _row(f"default: {text}", field.nlp(text), right, lambda name: CUIS.get(name))
    for text, right in rights.items():
        codes = {alias: line.split(",")[0] for line in NAMES.splitlines() for alias in line.split(",")[1:] if alias}
        yield _row(f"table: {text}", table(text), right, codes.__getitem__)


def _row(given: str, doc: Any, right: Mapping[str, str], id_of: Any) -> Row:
    got = {ent.text: ent.kb_id_ for ent in doc.ents}
    wanted = {mention: id_of(name) for mention, name in right.items()}
    is_right = all(
        mention in got and (got[mention] == wanted[mention] if wanted[mention] else got[mention] not in ("", "NIL"))
        for mention in wanted
    )
    return Row(given, wanted, got, is_right and not _WRONG & got.keys() - wanted.keys())


@case(40, "tags and entities")
def html(field: Field) -> Iterator[Row]:
    yield from _rows(
        field,
        {
            "He had <b>asthma</b>.": _same("asthma"),
            "The <b>patient</b> had <b>fever</b>.": _same("fever"),
            "<p>Patient has <b>type 2 diabetes</b>.<br/>No fever.</p>": _same("type 2 diabetes", "fever"),
            "He had <b>asthma</b> and <b>pneumonia</b>, treated with <em>metformin</em>.": _same(
                "asthma", "pneumonia", "metformin"
            ),
            "asthma<br>pneumonia<br/>fever": _same("asthma", "pneumonia", "fever"),
            "cough &amp; fever": _same("cough", "fever"),
            "&bull; asthma &bull; COPD": {"asthma": "asthma", "COPD": "COPD"},
            "&quot;asthma&quot; was noted": _same("asthma"),
            "Crohn&rsquo;s disease": {"Crohn&rsquo;s disease": "Crohn's disease"},
            "Sj&ouml;gren syndrome was seen.": {"Sj&ouml;gren syndrome": "Sjögren syndrome"},
        },
    )
    text, clean = "asthma&nbsp;attack&nbsp;and pneumonia", "asthma attack and pneumonia"
    for name, nlp in (("default", field.nlp), ("table", field.quickstart_of(NAMES, "names"))):
        right = [(ent.text, ent.kb_id_) for ent in nlp(clean).ents]
        got = [(ent.text.replace("&nbsp;", " "), ent.kb_id_) for ent in nlp(text).ents]
        yield Row(f"{name}: {text}", f"as of {clean}: {right}", got, got == right)
    text = "Patients with <i>Helicobacter pylori</i> infection had gastritis."
    for name, nlp in (("default", field.nlp), ("table", field.quickstart_of(NAMES, "names"))):
        got = {ent.text: ent.kb_id_ for ent in nlp(text).ents}
        surfaces = [surface for surface in got if surface.startswith("Helicobacter pylori")]
        right = {"Helicobacter pylori", "Helicobacter pylori</i> infection"}
        yield Row(f"{name}: {text}", right, got, bool(surfaces) and set(surfaces) <= right and "i" not in got)


@case(41, "citation marks and Markdown")
def citations(field: Field) -> Iterator[Row]:
    yield from _rows(
        field,
        {
            "He has asthma[1].": _same("asthma"),
            "asthma(1) and COPD(2)": _same("asthma", "COPD"),
            "Patients with asthma[1,2] were treated with metformin[3] for obesity.": _same(
                "asthma", "metformin", "obesity"
            ),
            "rheumatoid arthritis[4] was severe": _same("rheumatoid arthritis"),
            "diabetes.[3] Hypertension": {"diabetes": "diabetes", "Hypertension": "hypertension"},
            "asthma\\cite{x} and pneumonia": _same("asthma", "pneumonia"),
            "He has **rheumatoid arthritis**.": _same("rheumatoid arthritis"),
            "~~asthma~~": _same("asthma"),
            "[asthma](http://x.org)": _same("asthma"),
            "[rheumatoid arthritis](https://x.org/ra) was treated": _same("rheumatoid arthritis"),
            "He has asthma¹ and pneumonia².": _same("asthma", "pneumonia"),
        },
    )


@case(44, "words at line ends")
def line_ends(field: Field) -> Iterator[Row]:
    wrapped = (field.files / "44-hyphen-at-line-end" / "wrap45.txt").read_text(encoding="utf8")
    broken = {
        "Non-\nsmall cell lung cancer was found.": {"Non-\nsmall cell lung cancer": "non-small cell lung cancer"},
        "post-\noperative pain and pre-\neclampsia": {"pre-\neclampsia": "pre-eclampsia"},
        "hyper-\ntensive crisis but hypo-\ntension.": {"hypo-\ntension": "hypotension"},
        "rheuma-\ntoid arthritis": {"rheuma-\ntoid arthritis": "rheumatoid arthritis"},
        "chronic kid-\nney disease": {"chronic kid-\nney disease": "chronic kidney disease"},
        wrapped: {"chronic kidney\ndisease": "chronic kidney disease", "rheumatoid arthritis": "rheumatoid arthritis"},
        "> He has a long history of chronic kidney\n> disease and of rheumatoid\n> arthritis since 1999.": {
            "chronic kidney\n> disease": "chronic kidney disease",
            "rheumatoid\n> arthritis": "rheumatoid arthritis",
        },
    }
    yield from _rows(field, broken)


@case(45, "slashes between names")
def slashes(field: Field) -> Iterator[Row]:
    for text in ("HIV/AIDS", "He has HIV/AIDS."):
        for name, nlp in (("default", field.nlp), ("table", field.quickstart_of(NAMES, "names"))):
            got = {ent.text: ent.kb_id_ for ent in nlp(text).ents}
            is_right = set(got) in ({"HIV", "AIDS"}, {"HIV/AIDS"}) and "NIL" not in got.values()
            yield Row(f"{name}: {text}", "both, or one", got, is_right)
    two = (("CHF", "CAD"), ("DM", "HTN"), ("obesity", "OSA"), ("GERD", "IBS"), ("asthma", "COPD"))
    rights = {f"{first}/{second}": _same(first, second) for first, second in two}
    yield from _rows(field, {"History of CHF/CAD.": _same("CHF", "CAD"), **rights})


@case(53, "lists of one head, invisible characters")
def coordination(field: Field) -> Iterator[Row]:
    yield from _rows(
        field,
        {
            "hepatitis A, B and C": {"hepatitis A": "hepatitis A", "B": "hepatitis B", "C": "hepatitis C"},
            "Hepatitis B and C were excluded.": {"Hepatitis B": "hepatitis B", "C": "hepatitis C"},
            "Vitamins B6 and B12 were given.": {"Vitamins B6": "vitamin B6", "B12": "vitamin B12"},
            "IL-6 and -8": {"IL-6": "IL-6", "-8": "IL-8"},
            "asthma\u200b": _same("asthma"),
            "\ufeffasthma": _same("asthma"),
            "asthma\x00": _same("asthma"),
        },
    )
    for text, wrong in (("T and B lymphocytes", "Thymidine"), ("T- and B-cells", "Thymidine")):
        got = {ent.text: ent._.pel_name for ent in field.nlp(text).ents}
        yield Row(f"default: {text}", f"not {wrong}", got, wrong.lower() not in str(got).lower())
    text = "lung, breast and colon cancer"
    got = {ent.text: (ent._.pel_name, round(ent._.pel_probability, 2)) for ent in field.nlp(text).ents}
    lung = next((answer for surface, answer in got.items() if surface.startswith("lung")), ("", 0.0))
    is_right = (lung[0] or "").lower() != "lung" or lung[1] < 0.5
    yield Row(f"default: {text}", "lung: a cancer, or P < .5", got, is_right)

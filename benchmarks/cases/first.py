"""The first list: cases 1 to 31."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .field import MINUTES, NAME, Field, Row, case, links, mentions


@case(1, "typographic characters")
def typographic(field: Field) -> Iterator[Row]:
    for text, right in (
        ("Parkinson\u2019s disease was diagnosed.", {"Parkinson\u2019s disease": "G20"}),
        ("Sjo\u0308gren\u2019s syndrome", {"Sjo\u0308gren\u2019s syndrome": "M35.0"}),
        ("COVID\u201119 and interferon\u2010gamma", {"COVID\u201119": "U07", "interferon\u2010gamma": "GAMMA"}),
        ("IL-1\u03b2 rose; type-2 diabetes", {"IL-1\u03b2": "IL1B", "type-2 diabetes": "E11"}),
        ("knee-joint replacement", {"knee-joint replacement": "Z96"}),
        ("hyper\u00adtension, asth\u200bma", {"hyper\u00adtension": "I10", "asth\u200bma": "J45"}),
    ):
        yield Row(text, right, links(field.table, text))
    yield Row("Crohn's disease too.", {"Crohn's disease": "K50"}, links(field.more, "Crohn's disease too."))


@case(2, "names glued to punctuation")
def glued(field: Field) -> Iterator[Row]:
    for text, right in (
        ("1.HTN 2.COPD 3.CKD", {"HTN": "I10", "COPD": "J44", "CKD": "N18"}),
        ("-HTN\n-COPD", {"HTN": "I10", "COPD": "J44"}),
        ("|HTN|I10|", {"HTN": "I10"}),
        ("MI+HTN", {"MI": "I21", "HTN": "I10"}),
        ("hypertension(HTN) and asthma(mild)", {"hypertension": "I10", "HTN": "I10", "asthma": "J45"}),
        ("24-hydroxycholesterol and NASA", {"24-hydroxycholesterol": "CHOL"}),
    ):
        yield Row(text, right, links(field.table, text))


def _default_mentions(field: Field, *pairs: tuple[str, list[str]]) -> Iterator[Row]:
    for text, right in pairs:
        yield Row(text, right, mentions(field.nlp, text))


@case(3, "the same by the detector", must=False)
def glued_by_detector(field: Field) -> Iterator[Row]:
    yield from _default_mentions(
        field,
        ("1.HTN 2.COPD 3.CKD", ["HTN", "COPD", "CKD"]),
        ("-HTN\n-COPD", ["HTN", "COPD"]),
        ("MI+HTN", ["MI", "HTN"]),
        ("hypertension(HTN) and asthma(mild)", ["hypertension", "HTN", "asthma"]),
    )


@case(4, "negations", must=False)
def negations(field: Field) -> Iterator[Row]:
    yield from _default_mentions(
        field,
        ("No asthma.", ["asthma"]),
        ("No diabetes.", ["diabetes"]),
        ("Pt has no rash.", ["rash"]),
        ("No headache, no fever.", ["headache", "fever"]),
        ("No seizures since 2019.", ["seizures"]),
    )


@case(5, "lists without bullets", must=False)
def lists(field: Field) -> Iterator[Row]:
    diseases = ["asthma", "hypertension", "diabetes mellitus", "COPD"]
    drugs = ["aspirin", "metformin", "warfarin"]
    yield from _default_mentions(
        field,
        ("PMH:\n" + "\n".join(diseases), diseases),
        ("Meds:\n" + "\n".join(drugs), drugs),
        ("PMH:\r\n" + "\r\n".join(diseases), diseases),
    )


@case(6, "lists with bullets", must=False)
def bullets(field: Field) -> Iterator[Row]:
    yield from _default_mentions(field, ("PMH:\n- asthma\n- hypertension\n- COPD", ["asthma", "hypertension", "COPD"]))


@case(7, "headings", must=False)
def headings(field: Field) -> Iterator[Row]:
    yield from _default_mentions(field, ("ventricular response\nALLERGIES: none", ["ventricular response"]))


@case(8, "doses and values", must=False)
def doses(field: Field) -> Iterator[Row]:
    yield from _default_mentions(
        field,
        ("ceftriaxone 1 g IV", ["ceftriaxone"]),
        ("Cl 101", ["Cl"]),
        ("glucose 212 mg/dL", ["glucose"]),
        ("levothyroxine 75 mcg daily", ["levothyroxine"]),
    )


@case(9, "short forms that the text does not define", must=False)
def short_forms(field: Field) -> Iterator[Row]:
    text = "PMH: HLD, SLE, CAD. HPI: 54M with CP and SOB. Meds reviewed. ESRD on HD. O2 sat 94% on RA."
    wrong, right = {"HPI", "HLD", "Meds", "HD", "RA"}, {"hyperlipidemia", "Hemodialysis"}
    got = {
        ent.text: (ent._.pel_name, round(ent._.pel_probability, 2))
        for ent in field.nlp(text).ents
        if ent.text in wrong and ent.kb_id_ != "NIL" and ent._.pel_name not in right
    }
    yield Row(text, "none of the wrong senses has P > .5", got, all(p <= 0.5 for _, p in got.values()))


@case(10, "less specific concepts", must=False)
def less_specific(field: Field) -> Iterator[Row]:
    for text in ("Small hiatal hernia.", "CKD stage III."):
        got = {
            ent.text: (ent.kb_id_, ent._.pel_candidates[0][0], round(ent._.pel_nil_score, 2))
            for ent in field.nlp(text).ents
        }
        linked = any(kb_id != "NIL" or 0.3 < nil < 0.7 for kb_id, _, nil in got.values())
        yield Row(text, "linked, or NIL with P(NIL) near even", got, linked)


@case(11, "unambiguous exact names", must=False)
def exact_names(field: Field) -> Iterator[Row]:
    text = "Patients with COVID-19 were admitted."
    got = links(field.nlp, text)
    yield Row(text, "COVID-19 is linked", got, got.get("COVID-19", "NIL") != "NIL")


@case(12, "canonical names", must=False)
def canonical_names(field: Field) -> Iterator[Row]:
    kb = field.nlp.get_pipe(NAME).kb
    got = [kb[kb_id].canonical_name for kb_id in kb.ids("ischemic cardiomyopathy")]
    is_right = bool(got) and "ischemic myopathy" not in got
    yield Row("ischemic cardiomyopathy", "not shown as ischemic myopathy", got, is_right)
    entity = kb["C1513916"]
    got = [entity.canonical_name, *entity.aliases]
    yield Row("C1513916 (no)", "without the alias FH2D", got, "FH2D" not in got)


@case(13, "inverted names across a comma")
def inverted(field: Field) -> Iterator[Row]:
    for text, right in (
        ("pneumonia, bacterial meningitis", {"pneumonia": "J18", "bacterial meningitis": "G00"}),
        ("Pneumonia, bacterial was found.", {"Pneumonia, bacterial": "J15"}),
    ):
        yield Row(text, right, links(field.more, text))


@case(14, "words that are names by chance")
def by_chance(field: Field) -> Iterator[Row]:
    text = "falls asleep and falls in love"
    got = {ent.text: round(ent._.pel_probability, 2) for ent in field.table(text).ents}
    yield Row(text, "P(right) < 1", got, all(p < 0.99 for p in got.values()))


@case(15, "short forms in other brackets and in the plural", must=False)
def defined(field: Field) -> Iterator[Row]:
    for text, right in (
        ("Malignant melanoma [MM] was found. MM progressed.", "melanoma"),
        ("Progressive encephalopathies (PEs) were seen. The PE was severe.", "encephalopathy"),
    ):
        got = {ent.text: ent._.pel_name for ent in field.nlp(text).ents}
        yield Row(text, right, got, right in (list(got.values())[-1] or "").lower())


def _read(field: Field, reader: str, name: str) -> tuple[Any, list[dict[str, Any]]]:
    out = field.work / f"{name}.jsonl"
    result = field.answer("convert", out, "--reader", reader, field.files / name)
    lines = out.read_text(encoding="utf8").splitlines() if out.is_file() else []
    return result, [json.loads(line) for line in lines]


def _ids(documents: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {
        document["text"][mention["start"] : mention["end"]]: mention["ids"]
        for document in documents
        for mention in document["mentions"]
    }


@case(20, "PubTator: relations of any width")
def relations(field: Field) -> Iterator[Row]:
    result, documents = _read(field, "pubtator", "relations.pubtator")
    right = {"Aspirin": ["D001241"], "asthma": ["D001249"]}
    yield Row("relations.pubtator", right, _ids(documents) or result)


@case(21, "PubTator: separators of ids")
def separators(field: Field) -> Iterator[Row]:
    result, documents = _read(field, "pubtator", "id_separators.pubtator")
    right = {"Cough": ["MESH:D003371", "MESH:D003372"], "rash": ["D005076", "D005077"]}
    yield Row("id_separators.pubtator", right, _ids(documents) or result)


@case(22, "PubTator: normalised mentions")
def normalised(field: Field) -> Iterator[Row]:
    result, documents = _read(field, "pubtator", "normalised_text.pubtator")
    right = ["7124", "D001249", "3553", "2697049"]
    yield Row("normalised_text.pubtator", right, [ids[0] for ids in _ids(documents).values()] or result)


@case(23, "BioC: bases of offsets")
def bases(field: Field) -> Iterator[Row]:
    result, documents = _read(field, "bioc", "offsets_from_passage.xml")
    found = [text for text in _ids(documents)]
    yield Row("offsets_from_passage.xml", "3 mentions", found or result, len(found) == 3)


def _kb(field: Field, name: str, *options: str) -> tuple[Any, dict[str, list[str]]]:
    out = field.work / f"{name}.{options[-1]}"
    result = field.answer("kb", "build", out, *options, field.files / name)
    if not out.is_dir():
        return result, {}
    from spacy_pel.kb import KnowledgeBase

    kb = KnowledgeBase.from_disk(out)
    return result, {kb_id: [kb[kb_id].canonical_name, *kb[kb_id].aliases] for kb_id in kb}


@case(24, "SNOMED CT RF2 descriptions")
def rf2(field: Field) -> Iterator[Row]:
    right = {"126813005": ["Neoplasm of lip"], "126814004": ["Neoplasm of palate"]}
    result, names = _kb(field, "rf2_descriptions.txt", "--reader", "rf2")
    yield Row("rf2_descriptions.txt --reader rf2", right, names or result)
    refused, names = _kb(field, "rf2_descriptions.txt", "--reader", "csv")
    yield Row("... --reader csv", "an error that names rf2", names or refused, not names and "rf2" in refused)


@case(25, "OBO: qualifiers and continued lines")
def qualifiers(field: Field) -> Iterator[Row]:
    right = {
        "TST:2": ["Boat-shaped ilium", "Keel-like ilium"],
        "TST:1": ["N(4)-{alpha-D-Xyl-(1->2)}-Asn residue"],
        "TST:8": ["a long name that goes on in the next line"],
    }
    result, names = _kb(field, "qualifiers.obo", "--reader", "obo")
    yield Row("qualifiers.obo", right, names or result)


@case(26, "tables with empty columns")
def empty_columns(field: Field) -> Iterator[Row]:
    result, names = _kb(field, "empty_columns.csv", "--reader", "csv")
    yield Row("empty_columns.csv", {"I10": ["Hypertension"], "E11": ["Type 2 diabetes"]}, names or result)


@case(27, "a document that is too long")
def too_long(field: Field) -> Iterator[Row]:
    pipeline = field.work / "table"
    assert field.table
    texts = ["Asthma was found.", "The patient was seen again. " * 36_643 + "Fever.", "Chest pain."]
    (field.work / "long.txt").write_text("\n".join(texts), encoding="utf8")
    out = field.work / "long.jsonl"
    result = field.answer("link", pipeline, field.work / "long.txt", out)
    lines = out.read_text(encoding="utf8").splitlines() if out.is_file() else []
    linked = [[mention["kb_id"] for mention in json.loads(line)["mentions"]] for line in lines]
    given = "3 documents, the second of 1,026,000 characters"
    yield Row(given, [["J45"], ["R50"], ["R07.4"]], linked or result)


_TERM = "[Term]\nid: {id}\nname: {name}\n{more}\n"


def _releases(field: Field) -> tuple[Path, Path]:
    old, new = field.work / "old.obo", field.work / "new.obo"
    terms = [("X:1", "velmoparin toxicity"), ("X:2", "spotted elbow"), ("X:3", "blue thumb")]
    old.write_text("".join(_TERM.format(id=i, name=name, more="") for i, name in terms), encoding="utf8")
    obsolete = "is_obsolete: true\nreplaced_by: X:3\n"
    new.write_text(
        _TERM.format(id="X:1", name="obsolete velmoparin toxicity", more=obsolete)
        + _TERM.format(id="X:3", name="blue thumb", more=""),
        encoding="utf8",
    )
    return old, new


def _updated(field: Field, name: str, edit: Callable[[Any], None] | None = None, *options: str) -> Any:
    """What `kb add` of the second release to a pipeline of the first prints, and the KB."""
    import spacy

    old, new = _releases(field)
    pipeline = field.work / name
    field.run("quickstart", old, pipeline, "--encoder", field.default, "--overwrite")
    if edit is not None:
        nlp = spacy.load(pipeline)
        edit(nlp.get_pipe(NAME))
        nlp.to_disk(pipeline)
    result = field.answer("kb", "add", pipeline, new, *options)
    return result, spacy.load(pipeline).get_pipe(NAME).kb


@case(28, "terms that a release retires or no longer has")
def retired(field: Field) -> Iterator[Row]:
    result, kb = _updated(field, "release")
    live = [kb_id for kb_id in ("X:1", "X:2", "X:3") if kb.ids(kb_id) or kb_id in set(kb)]
    said = isinstance(result, dict) and "X:2" in json.dumps(result)
    yield Row("X:1 obsolete, X:2 gone", ["X:2", "X:3"], live)
    yield Row("...", "the summary names X:2", result, said)
    result, kb = _updated(field, "release", None, "--retire-missing")
    yield Row("... --retire-missing", ["X:3"], [kb_id for kb_id in ("X:1", "X:2", "X:3") if kb_id in set(kb)])


@case(29, "curators' edits and the next release")
def edits(field: Field) -> Iterator[Row]:
    def edit(linker: Any) -> None:
        linker.retire(["X:2"])
        linker.rename({"X:3": "azure thumb"})

    result, kb = _updated(field, "edited", edit)
    got = {kb_id: kb[kb_id].canonical_name for kb_id in kb}
    yield Row("retire X:2, rename X:3, then the release", {"X:3": "azure thumb"}, got)
    _, listed = field.run("kb", "edits", field.work / "edited")
    yield Row("kb edits", "lists both", listed, "X:2" in listed and "X:3" in listed)


@case(30, "abstracts in Parquet with columns of their own", must=False)
def columns(field: Field) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert field.table
    path, out = field.work / "abstracts.parquet", field.work / "abstracts.jsonl"
    pq.write_table(pa.table({"pmid": ["7"], "abstract": ["Asthma."], "date": ["2026"]}), path)
    options = ("--text-column", "abstract", "--id-column", "pmid")
    _, text = field.run("link", field.work / "table", path, out, *options)
    got = json.loads(out.read_text(encoding="utf8")) if out.is_file() else text.strip().splitlines()[-1]
    yield Row("pmid, abstract, date", "linked, date in meta", got, "2026" in json.dumps(got))


_FORKED = """
import sys
import spacy

if __name__ == "__main__":
    nlp = spacy.load(sys.argv[1])
    text = "Patients with asthma."
    alone = [ent.kb_id_ for ent in nlp(text).ents]
    docs = list(nlp.pipe([text, text], n_process=2, batch_size=1))
    print([[ent.kb_id_ for ent in doc.ents] for doc in docs] == [alone, alone])
"""


@case(31, "processes after a call in the parent")
def processes(field: Field) -> Iterator[Row]:
    script = field.work / "forked.py"
    script.write_text(_FORKED, encoding="utf8")
    variables = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    for setting in (None, *((name, n) for name in variables for n in "123")):
        environment = {key: value for key, value in os.environ.items() if key not in variables}
        if setting is not None:
            environment[setting[0]] = setting[1]
        try:
            done = subprocess.run(
                [sys.executable, str(script), str(field.default.resolve())],
                **{"env": environment, "capture_output": True, "text": True, "timeout": 60 * MINUTES},
            )
            got = done.stdout.strip() or done.stderr.strip().splitlines()[-1]
        except subprocess.TimeoutExpired:
            got = "hangs"
        yield Row("=".join(setting) if setting else "no variable set", "True", got)

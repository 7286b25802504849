"""Files as they are published, and files that are something else."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .field import Field, Row, case


def _built(field: Field, path: Path, *options: str) -> tuple[Any, str, dict[str, list[str]]]:
    """`kb build`: its summary, what it says on stderr, and the names by id."""
    out = field.work / f"kb.{path.parent.name}.{path.name}"
    code, text = field.run("kb", "build", out, *options, path, "--json")
    if code or not out.is_dir():
        return None, text, {}
    from spacy_pel.kb import KnowledgeBase

    kb = KnowledgeBase.from_disk(out)
    return code, text, {kb_id: [kb[kb_id].canonical_name, *kb[kb_id].aliases] for kb_id in kb}


def _names(given: str, right: dict[str, set[str]], text: str, names: dict[str, list[str]]) -> Row:
    """Right if the ids are these, and each has these names, and maybe more."""
    is_right = names.keys() == right.keys() and all(right[kb_id] <= set(names[kb_id]) for kb_id in right)
    return Row(given, right, names or text[-300:], is_right)


@case(46, "OMOP's CONCEPT.csv")
def concepts(field: Field) -> Iterator[Row]:
    folder = field.files / "46-omop-concept-table"
    right = {
        "Granular zorbitis",
        '"velmoparin',
        'Syringe 5" needle',
        'Status "Deceased"',
        "Chronic plexitis",
        "Pleasant Hill fever\\",
    }
    _, text, names = _built(field, folder / "CONCEPT.csv")
    got = {of_entity[0] for of_entity in names.values()}
    yield Row("CONCEPT.csv", right, got or text[-300:], got == right)
    yield Row("...", "the summary says that one is invalid", text, "invalid" in text)
    for name, rows in (("q2.tsv", ['"alpha', 'gamma"', "plain", "other"]), ("q3.tsv", ['inch 5"', '12" cut', '"'])):
        _, text, names = _built(field, folder / name)
        got = [of_entity[0] for of_entity in names.values()]
        yield Row(name, rows, got or text[-300:], got == rows)


@case(47, "tables in single quotes")
def single_quotes(field: Field) -> Iterator[Row]:
    _, text, names = _built(field, field.files / "47-single-quoted-table" / "hcup.csv")
    yield _names("hcup.csv", {"0100": {"ZORBITIS, PRIMARY"}, "01001": {"PLEXITIS-UNSPEC"}}, text, names)


@case(48, "markup, mojibake and semantic tags in names")
def markup(field: Field) -> Iterator[Row]:
    folder = field.files / "48-markup-in-names"
    _, text, names = _built(field, folder / "html.csv")
    right = {
        "X1": {"Crohn's disease", "Crohn's"},
        "X2": {"Head & neck cancer"},
        "X3": {"Helicobacter pylori infection", "H. pylori"},
        "X4": {"Na+ deficiency"},
        "X5": {"TGF-β excess"},
    }
    yield _names("html.csv", right, text, names)
    yield Row("...", "counted as repairs", text, '"repairs"' in text and '"repairs": {}' not in text)
    _, text, names = _built(field, folder / "mojibake.csv")
    yield _names("mojibake.csv", {"X1": {"Ménière’s disease"}, "X2": {"Sjögren syndrome"}}, text, names)
    _, text, names = _built(field, folder / "semtag.csv")
    right = {"C001": {"Zorbitis"}, "C002": {"Plexitis"}, "C003": {"Vexitis"}, "C004": {"Fracture of femur"}}
    yield _names("semtag.csv", right, text, names)


@case(49, "OBO: quotes that are not escaped")
def obo_quotes(field: Field) -> Iterator[Row]:
    _, text, names = _built(field, field.files / "49-obo-unescaped-quotes" / "quotes.obo")
    first = {"zorbic acid", "3,3',3\"-zorb acid", 'zorb 5" tablet', "zorbate"}
    got = {kb_id: set(of_entity) for kb_id, of_entity in names.items()}
    is_right = got.keys() == {"TST:0000001", "TST:0000002"} and first <= got["TST:0000001"]
    yield Row("quotes.obo", {"TST:0000001": first, "TST:0000002": {"plexic acid"}}, got or text, is_right)
    from spacy_pel.kb import KnowledgeBase

    definition = KnowledgeBase.from_disk(field.work / "kb.49-obo-unescaped-quotes.quotes.obo")["TST:0000002"].definition
    yield Row("... its definition", 'An acid, called "plex" by some.', definition)


@case(50, "terms that are obsolete by their label")
def obsolete(field: Field) -> Iterator[Row]:
    folder = field.files / "50-obsolete-in-label-only"
    _, text, names = _built(field, folder / "ordo.owl")
    live = {of_entity[0] for of_entity in names.values()}
    right = {"Plexitis syndrome", "Vexitis & plexitis, in situ"}
    yield Row("ordo.owl", right, live or text, live == right)
    from spacy_pel.kb import KnowledgeBase

    kb = KnowledgeBase.from_disk(field.work / "kb.50-obsolete-in-label-only.ordo.owl")
    old, new = (next((i for i in (f"Orphanet:90000{n}", f"ORDO:90000{n}") if kb.resolve(i)), None) for n in (1, 2))
    got = kb.resolve(old) if old else None
    yield Row("... the successor of 900001", new, got, got is not None and got == new)
    _, text, names = _built(field, folder / "odd.obo")
    live = {of_entity[0] for of_entity in names.values()}
    yield Row("odd.obo", "no plexitis of hand, no vexitis", live, bool(live) and "obsolete" not in str(live).lower())


def _mentions(field: Field, path: Path, *options: str) -> tuple[int, str, list[str]]:
    out = field.work / f"{path.name}.{len(options)}.jsonl"
    code, text = field.run("convert", out, *options, path)
    lines = out.read_text(encoding="utf8").splitlines() if out.is_file() else []
    documents = map(json.loads, lines)
    return code, text, [d["text"][m["start"] : m["end"]] for d in documents for m in d["mentions"]]


@case(51, "files of annotation tools")
def annotation_tools(field: Field) -> Iterator[Row]:
    folder = field.files / "51-annotation-tools-jsonl"
    for name, n in (("doccano.jsonl", 2), ("prodigy2.jsonl", 1)):
        code, text, got = _mentions(field, folder / name, "--reader", "jsonl")
        is_right = got == ["asthma"] * n or (code == 2 and any(key in text for key in ("label", "entities", "spans")))
        yield Row(name, ["asthma"] * n, got or text[-300:], is_right)
    conll = field.work / "iob.conll"
    conll.write_text("Severe\tO\nheart\tB-Disease\tD006331\ndisease\tI-Disease\tD006331\n.\tO\n", encoding="utf8")
    _, text, got = _mentions(field, conll, "--reader", "conll")
    yield Row("CoNLL: token, tag, id", ["heart disease"], got or text[-300:])


@case(52, "files that are something else")
def wrong_files(field: Field) -> Iterator[Row]:
    assert field.table
    folder, pipeline = field.files / "52-wrong-file-messages", field.work / "table"
    pdf = field.work / "note.txt"
    pdf.write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n\xe2\xe3\xcf\xd3")
    for name, word, options in (
        ("html.zip", "zip", ()),
        ("html.zip", "zip", ("--reader", "csv")),
        ("plain_named.csv", "gzip", ()),
        ("claml.xml", "claml", ()),
        ("icd10order.txt", "fixed", ()),
        ("dict.json", "json", ()),
    ):
        code, text, names = _built(field, folder / name, *options)
        given = " ".join(("kb build", name, *options))
        is_right = bool(names) or (word in text.lower() and _is_message(text))
        yield Row(given, f"read, or named: {word}", names or text[-300:], is_right)
    for name in ("fhir_cs.json", "fhir_vs.json"):
        code, text, names = _built(field, folder / name)
        is_right = bool(names) or ("fhir" in text.lower() and _is_message(text))
        yield Row(f"kb build {name}", "read, or named: FHIR", names or text[-300:], is_right)
    for name, word in (("swapped.csv", "swap"), ("excel.csv", "spreadsheet")):
        code, text, names = _built(field, folder / name)
        yield Row(f"kb build {name}", f"a warning: {word}", text[-400:], word in text.lower())
    for path, word in (
        (pdf, "pdf"),
        (folder / "pm.xml", "pubmed"),
        (folder / "jats.xml", "jats"),
        (folder / "pm.nbib", "nbib"),
    ):
        code, text = field.run("link", pipeline, path, field.work / "wrong.jsonl", "--overwrite")
        yield Row(f"link {path.name}", f"named: {word}", text[-300:], word in text.lower() and _is_message(text))
    code, text = field.run("link", pipeline, folder / "arr.json", field.work / "arr.jsonl", "--overwrite")
    is_right = code == 0 or "array" in text.lower()
    yield Row("link arr.json", "read, or named: a JSON array", text[-300:], is_right)
    yield from _cannot_link(field)


def _is_message(text: str) -> bool:
    return "Traceback" not in text and "Error: '" not in text and "AttributeError" not in text


_PIPELINES = """
import sys, warnings
import spacy
nlp = spacy.load(sys.argv[1], {how})
{then}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for text in ("He has asthma.", "She has fever."):
        nlp(text)
print(sum("pel" in str(warning.filename) or "[W" in str(warning.message) for warning in caught))
"""


def _cannot_link(field: Field) -> Iterator[Row]:
    spans = 'config={"components": {"proxy_entity_linker": {"spans_key": "sc"}}}'
    order = 'nlp.remove_pipe("ner"); nlp.add_pipe("ner", source=spacy.load(sys.argv[1]), last=True)'
    for given, how, then in (("spans_key", spans, ""), ("no ner", 'exclude=["ner"]', ""), ("ner last", "", order)):
        script = _PIPELINES.format(how=how, then=then)
        done = subprocess.run([sys.executable, "-c", script, str(field.default)], capture_output=True, text=True)
        got = (done.stdout.strip() or done.stderr[-300:]).splitlines()[-1]
        yield Row(given, "one warning", got, got == "1")


@case(56, "long chains of successors")
def chains(field: Field) -> Iterator[Row]:
    seconds = {}
    for n in (5_000, 50_000):
        path = field.work / f"chain{n}.obo"
        term = "[Term]\nid: X:{}\nname: obsolete term {}\nis_obsolete: true\nreplaced_by: X:{}\n\n"
        terms = "".join(term.format(i, i, i + 1) for i in range(n))
        path.write_text(f"format-version: 1.2\n\n{terms}[Term]\nid: X:{n}\nname: the last\n", encoding="utf8")
        start = time.perf_counter()
        field.run("kb", "build", field.work / f"chain{n}", path)
        seconds[n] = round(time.perf_counter() - start, 1)
    yield Row("5,000 and 50,000 terms", "linear", seconds, seconds[50_000] < 6 * seconds[5_000] + 10)

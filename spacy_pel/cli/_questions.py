"""A table of questions: which answers of a pipeline should be judged, and what a filled-in table says."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..corpora.formats.tables import open_table, write_rows
from ..errors import Errors, PelError, quoted
from ..types import NIL, Document, Mention
from ..util import normalize_alias
from ..util.files import Place, ending_of, unexpected
from ..util.parsing import DATA_ERRORS
from ..util.writing import write_text

_ANSWER, _JUDGED, _TEXT = "answer", "right", "text"
_OTHERS = ("other_1", "other_2", "other_3")
_WHERE = ("start", "end", "label")
_COLUMNS = ("document", "around", "mention", _ANSWER, "name", "p_right", *_OTHERS, _JUDGED, *_WHERE, _TEXT)
_CELL = 30_000  # characters of a text: a spreadsheet's cell holds 32,767
_AROUND = 100  # characters on each side of a mention
Row = dict[str, Any]


def write_questions(pipeline: Path, texts: Path, output: Path, column: str | None, *, n: int, seed: int) -> Row:
    """Link texts, and write some of the answers as a table to fill in.

    They are drawn at random, one of each form. What is fitted on so few answers is a line, whose bias and slope chance
    tells as well as a choice does: strata of P(right), uncertain answers or those near the NIL threshold, with or
    without weights, gained no more on five corpora (docs/studies/few-documents.md), and the most uncertain ones alone
    mislead, as they say nothing of the others.

    Args:
        pipeline: answers.
        texts: in any format that ``link`` reads; their annotation is not read.
        output: the table.
        column: of the text, see ``Columns``.
        n: how many questions; fewer if there are fewer forms.
        seed: of the choice.

    Raises:
        PelError: if the table exists or its name is no table's, or the pipeline finds no mention.
    """
    from ..corpora.document_stream import process_documents, text_pieces
    from ..engines.corpus import Columns, Corpus
    from ..engines.output import output_format
    from ..pipeline.mentions import document_record
    from ..pipeline.saved import load_pipeline

    delimiter = {"csv": ",", "tsv": "\t"}[output_format("auto", output, ("tsv", "csv"))]
    if output.exists():
        raise unexpected(output, "no file", "one that may hold your answers", "Choose another with --output.")
    nlp, _, component = load_pipeline(pipeline)
    corpus = Corpus(texts, columns=Columns(column))
    pieces = (replace(one, text=piece) for one in corpus for _, piece in text_pieces(one.text, _CELL))
    found: list[tuple[Document, Row]] = []
    for one in process_documents(nlp, pieces, batch_size=nlp.batch_size):
        records = document_record(component, one, len(_OTHERS) + 1).get("mentions", ())
        # without one, it is of another linker
        found += ((one.document, record) for record in records if record["probability"] is not None)
    if not found:
        raise PelError(Errors.E663.format(path=texts))
    by_form: dict[str, int] = {}
    for number in np.random.default_rng(seed).permutation(len(found)).tolist():
        by_form.setdefault(normalize_alias(found[number][1]["text"]), number)
    chosen = sorted(list(by_form.values())[:n])
    with write_text(output) as file:
        write_rows(file, [_COLUMNS, *(_row(*found[number], component.kb) for number in chosen)], delimiter)
    return {"questions": len(chosen), "mentions": len(found), "forms": len(by_form), "output": str(output)}


def _row(document: Document, mention: Row, kb: Any) -> list[str]:
    text, start, end = document.text, mention["start"], mention["end"]
    others = [f"{key} {kb[key].canonical_name}" for key, _ in mention["candidates"] if key != mention["kb_id"]]
    cells = [document.id, _around(text, start, end), " ".join(mention["text"].split()), mention["kb_id"]]
    cells += [mention["name"] or "", f"{mention['probability']:.3f}", *[*others, "", "", ""][: len(_OTHERS)], ""]
    # in one line, so that each question has one
    return [*cells, str(start), str(end), mention["label"], json.dumps(text, ensure_ascii=False)]


def _around(text: str, start: int, end: int) -> str:
    shown = f"{text[max(0, start - _AROUND) : start]}[[{text[start:end]}]]{text[end : end + _AROUND]}"
    return " ".join(shown.split())


def is_questions(path: Path) -> bool:
    """Whether a file is a table of questions, by its header."""
    return ending_of(path) in (".csv", ".tsv") and {_ANSWER, _JUDGED, _TEXT} <= set(open_table(path, _JUDGED)[0])


def read_questions(path: Path, kb: Any) -> tuple[list[Document], int]:
    """The judged mentions of a table, each as a document of its own, and the number of rows that are blank.

    Args:
        path: the table.
        kb: of the pipeline that was asked.

    Raises:
        PelError: if a row cannot be read, or none is judged.
    """
    documents, n_blank = [], 0
    for line, row in open_table(path, _JUDGED)[1]:
        judged, place = row[_JUDGED].strip(), Place(path, line)
        if not judged:
            n_blank += 1
            continue
        try:
            text, start, end = json.loads(row[_TEXT]), int(row["start"]), int(row["end"])
            # a spreadsheet makes a date of the mention "SEPT2", but leaves the text around it
            is_there = 0 <= start < end <= len(text) and _around(text, start, end) == row["around"]
        except DATA_ERRORS:
            is_there = False
        if not is_there:
            todo = "Change no column but 'right'."
            raise unexpected(place, "a text, its offsets and what is around as they were written", quoted(row), todo)
        ids = _ids(judged, row[_ANSWER], kb)
        if ids is None:
            expected = f"yes, no, {NIL} or an id of the knowledge base in '{_JUDGED}'"
            raise unexpected(place, expected, quoted(judged), "Correct it, or leave it blank.")
        mention = Mention(start, end, row.get("label", ""), ids, composite=len(ids) > 1)
        documents.append(Document(f"{row.get('document', '')}, line {line}", text, [mention]))
    if not documents:
        raise unexpected(path, "judged mentions", f"{n_blank} blank rows", f"Fill in the column '{_JUDGED}'.")
    return documents, n_blank


def _ids(judged: str, answer: str, kb: Any) -> tuple[str, ...] | None:
    """The ids that a judgement gives a mention: none of NIL; None if it is no judgement."""
    if judged.lower() == "no":  # another entity is meant: as of a mention of two, no single answer is right
        return tuple(kb.ids_at(kb.live_rows[:2]))
    key = answer if judged.lower() == "yes" else judged
    if key.upper() == NIL:
        return ()
    known = (one for one in (key, *key.split()[:1]) if one in kb)  # also as in the column of another answer
    return next(((one,) for one in known), None)

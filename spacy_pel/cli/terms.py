"""The commands ``map`` and ``check``: a list of terms to ids, and whether given ids are what texts mean."""

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Errors, PelError
from ..util.parsing import check_unicode
from ._app import CODE, pel_cli
from ._options import IdColumn, Overwrite, Resume, argument, flag, option
from ._output import emit, key_values, message, plain, text_table
from .quickstart import pipeline_of

if TYPE_CHECKING:
    from ..pipeline.terms import PairCheck
    from ..types import Document

_PIPELINE = "A pipeline: its folder, or the name of an installed package. Or the folder of a KB."
_SHOWN = 20  # pairs in the text
_CHUNK = 1000  # pairs checked at a time, or a few more
_TEXTS = ("text", "term", "subject_label", "name")
_IDS = ("id", "kb_id", "object_id")
_LABELS = ("label", "object_label")
_LABEL = "label"

TermColumn = Annotated[
    str | None, option("NAME", "Column or JSON key of the term. [default: term, text, name or label]", "--term-column")
]
TypeColumn = Annotated[
    str | None, option("NAME", "Column of the types that the entity may have, or of ids that it is below.")
]
ContextColumn = Annotated[str | None, option("NAME", "Column of a text that the term is in.")]


@pel_cli.command("map", rich_help_panel="Link")
def map_terms(
    ctx: typer.Context,
    pipeline: Annotated[str, argument("PIPELINE", _PIPELINE)],
    terms: Annotated[str, argument("TERMS", ".csv, .tsv, .jsonl, .parquet, or a text with a term per line.")],
    output: Annotated[str, argument("OUTPUT", ".csv, .tsv, .jsonl, .parquet or .sssom.tsv.")],
    term_column: TermColumn = None,
    id_column: IdColumn = None,
    type_column: TypeColumn = None,
    context_column: ContextColumn = None,
    reviewed: Annotated[Path | None, option("FILE", "What was decided on the page of serve --terms.")] = None,
    to: Annotated[str, option("NAME", "csv, tsv, jsonl, parquet, sssom, usagi, auto.", "--to", "--format")] = "auto",
    top_k: Annotated[int, option("N", "Alternatives of each term.", min=0)] = 5,
    always: Annotated[bool, flag("--always", "Never answer NIL.")] = False,
    n_process: Annotated[int, option("N", "Number of processes.", min=1)] = 1,
    resume: Resume = False,
    overwrite: Overwrite = False,
) -> None:
    """Map a list of terms to ids: one answer a row, with P(right), what it rests on, and alternatives.

    The other columns of a table go along. Of the folder of a KB, its names are embedded first.

    Example: spacy-pel map my_pipeline terms.csv mapped.sssom.tsv --term-column finding
    """
    from ..engines import LinkJob
    from ..engines.local import LocalEngine
    from ..engines.terms import TermSettings, read_review

    with pipeline_of(pipeline, Path(f"{output}.kb")) as loaded:
        job = LinkJob(
            *(loaded, terms, output),
            to=to,
            n_candidates=top_k,
            resume=resume,
            overwrite=overwrite,
            text_column=term_column,
            id_column=id_column,
            code=tuple(map(str, ctx.meta[CODE])),
            terms=TermSettings(type_column, context_column, always, read_review(reviewed) if reviewed else {}),
        )
        result = LocalEngine(n_process=n_process)(job)
    counts = {"terms": result["documents"], "mapped": result["mentions"] - result["nil"], "nil": result["nil"]}
    rate = {"seconds": result["seconds"], "terms_per_second": result["documents_per_second"]}
    emit({"output": output, **counts, **rate})


@pel_cli.command("check", rich_help_panel="Link")
def check(
    pipeline: Annotated[str, argument("PIPELINE", _PIPELINE)],
    pairs: Annotated[
        str, argument("PAIRS", "Texts and ids: .csv, .tsv, .sssom.tsv, .jsonl, .parquet, or an annotated corpus.")
    ],
    report: Annotated[Path | None, argument("REPORT", "All pairs as .csv, .tsv, .jsonl or .parquet.")] = None,
    term_column: TermColumn = None,
    id_column: Annotated[str | None, option("NAME", "Column of the id. [default: id, kb_id or object_id]")] = None,
    strict: Annotated[bool, flag("--strict", "Exit with 1 if a pair disagrees.")] = False,
) -> None:
    """Check whether ids are what texts mean: P(right) of each, a verdict, and the better id. The most doubtful first.

    Verdicts: agrees; broader or narrower, if the id's entity is that; other meaning; unclear; unknown or retired id;
    label, if a column `label` has a name that the id has not. Exit code 1: a pair disagrees, with --strict.

    Example: spacy-pel check my_pipeline coded.csv doubts.csv --strict
    """
    from ..corpora.document_stream import by_mentions
    from ..engines.output import PART_FORMATS, are_nested, output_format
    from ..engines.terms import term_queries, write_records
    from ..pipeline.saved import load_pipeline
    from ..pipeline.terms import SEVERAL, check_pairs
    from ..util import progress

    if report is not None:
        output_format("auto", report, PART_FORMATS)
        if report.exists() and are_nested(pairs, str(report)):
            raise PelError(Errors.E649.format(path=report))
    given = _pairs(pairs, term_column, id_column)
    found: list[PairCheck] = []
    with pipeline_of(pipeline, report or Path(f"{pairs}.check")) as path:
        loaded = load_pipeline(Path(path))
        texts = progress(given, description="Checking texts")
        for documents in by_mentions(texts, lambda one: len(one.mentions), n_mentions=_CHUNK):
            mentions = [(one, mention) for one in documents for mention in one.mentions]
            surfaces = [one.text[mention.start : mention.end] for one, mention in mentions]
            ids, labels = zip(*((SEVERAL.join(m.ids), one.meta.get(_LABEL, "")) for one, m in mentions), strict=True)
            found += check_pairs(loaded.component.linker, surfaces, term_queries(loaded, documents), ids, labels)
    found.sort(key=lambda one: (not one.disagrees, one.probability))
    rows = [asdict(one) for one in found]
    if report is not None:
        write_records(report, rows)
    verdicts = dict(Counter(one.verdict for one in found).most_common())
    emit({"pairs": len(rows), "verdicts": verdicts, "checked": rows}, _text)
    if strict and (n := sum(one.disagrees for one in found)):
        message(f"{n:,} of {len(found):,} pairs disagree")
        raise typer.Exit(1)


def _pairs(path: str, text_column: str | None, id_column: str | None) -> list["Document"]:
    """Of an annotated corpus the documents; of a table one for each row, with its label in ``meta``. Those without an
    id are left out.

    Raises:
        PelError: if none is left, or a column is missing.
    """
    from ..corpora import read_corpus
    from ..engines.corpus import Columns, Corpus, find_column, id_of
    from ..engines.terms import NO_TERM
    from ..pipeline.terms import SEVERAL
    from ..types import NIL, Document, Mention

    columns = Columns(text_column, usual=_TEXTS, option="--term-column")
    corpus, found = Corpus(path, columns=columns), list[Document]()
    if corpus.format not in (known := ("csv", "jsonl", "parquet", "tsv")):
        raise PelError(Errors.E640.format(got=corpus.format, known=", ".join(known)))

    def cell(row: dict[str, Any], names: tuple[str, ...]) -> str | None:
        column = next(filter(None, (find_column(row, name) for name in names)), None)
        if column is None:
            return None
        cells = row[column] if isinstance(row[column], list) else [row[column]]
        return SEVERAL.join((id_of(one) or "").strip() for one in cells)

    for where, row in (row for file in corpus.files for row in corpus.rows(file)):
        check_unicode(row, where)
        if not isinstance(row.get("mentions", ""), str):  # of a document without mentions it may be null
            if option := "--term-column" if text_column else "--id-column" if id_column else "":
                raise PelError(Errors.E639.format(known="a table", option=option, got="an annotated corpus"))
            found = [replace(one, meta={}) for one in read_corpus(Path(path))]
            break
        text, key = cell(row, (columns.of(row, where)[0],)) or "", cell(row, (id_column,) if id_column else _IDS)
        if key is None:
            got = ", ".join(row)
            raise PelError(Errors.E641.format(where=where, name=id_column or "id", got=got, option="--id-column"))
        mention = Mention(0, len(text), ids=tuple(filter(None, key.split(SEVERAL))))
        found.append(Document("", text, [mention], meta={_LABEL: cell(row, _LABELS) or ""}))
    for document in found:
        document.mentions = [one for one in document.mentions if SEVERAL.join(one.ids) not in ("", NIL, NO_TERM)]
    if not any(document.mentions for document in found):
        raise PelError(Errors.E670.format(path=path))
    return [document for document in found if document.mentions]


def _text(result: dict[str, Any]) -> str:
    shown = [[plain(value, key) for key, value in row.items()] for row in result["checked"][:_SHOWN]]
    table = text_table(list(result["checked"][0]), shown, numbers=False)
    return f"{key_values({'pairs': result['pairs'], **result['verdicts']})}\n\n{table}"

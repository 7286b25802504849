"""The commands ``demo`` and ``link``: a pipeline over some texts, and over a corpus of any size, with an engine."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError, Warnings, listed
from ..pipeline.saved import load_pipeline, pipeline_folder
from ._app import CODE, pel_cli
from ._options import PIPELINE, IdColumn, InputFormat, Overwrite, Resume, Settings, TextColumn, argument, option
from ._output import emit, key_values, link_table, message
from ._saved_pipeline import default_pipeline

_N_CANDIDATES = 5
_N_LEFT_OUT = 5  # documents that are named
# written for this command in the style of abstracts. They hold words with several meanings (cold, discharge), define
# abbreviations, and name drugs (zasocitinib, enlicitide) that the default knowledge base lacks
_TEXTS = Path(__file__).with_name("demo.jsonl")


@pel_cli.command("demo", rich_help_panel="Link")
def demo(
    text: Annotated[list[str] | None, option("TEXT", "Your own text (repeatable). Default: three abstracts.")] = None,
    pipeline: Annotated[
        Path | None,
        option("PIPELINE", "[default: en_pel_medmentions, or assets/pel_medmentions]", parser=pipeline_folder),
    ] = None,
    output: Annotated[Path, option("FOLDER", "Folder for the results.")] = Path("demo"),
) -> None:
    """Link texts, print a table, and write links.jsonl and the page links.html.

    Example: spacy-pel demo --text "Methotrexate in rheumatoid arthritis."
    """
    from ..corpora import read_corpus
    from ..corpora.document_stream import process_documents
    from ..evaluation.links import render_links
    from ..index.annotated_text import AliasPriors, FormsInText
    from ..pipeline.mentions import document_record
    from ..types import Document
    from ..util import atomic_path, write_jsonl

    given = [Document(f"Text {number}", content) for number, content in enumerate(text or (), start=1)]
    documents = given or list(read_corpus(_TEXTS))
    pipeline = pipeline or default_pipeline("--pipeline")
    nlp, _, component = load_pipeline(pipeline)
    kb = component.kb
    processed = process_documents(nlp, documents, batch_size=len(documents))
    records = [document_record(component, document, _N_CANDIDATES) for document in processed]
    for failed in (record for record in records if "error" in record):
        raise PelError(Errors.E606.format(id=failed["id"], got=failed["error"]))
    about = f"Pipeline {pipeline.name}, knowledge base of {len(kb):,} entities."
    priors = AliasPriors.empty() if component.linker.index is None else component.linker.index.priors
    of_kb: Any = {"entity_of": kb.__getitem__, "forms_of": partial(FormsInText.of, priors, kb)}
    page = render_links(records, title="Linked texts", description=about, **of_kb)
    write_jsonl(output / "links.jsonl", records)
    with atomic_path(output / "links.html") as part:
        part.write_text(page, encoding="utf8")
    message(f"Wrote {output / 'links.jsonl'} and {output / 'links.html'}")
    emit({"documents": records}, lambda result: _tables(result, kb))


def _tables(result: dict[str, Any], kb: Any) -> str:
    from ..evaluation.links import NOTE

    parts = [f"{document['id']}\n{link_table(document['mentions'], kb)}\n" for document in result["documents"]]
    return "\n".join([*parts, NOTE])


@pel_cli.command("link", rich_help_panel="Link")
def link(
    ctx: typer.Context,
    pipeline: Annotated[str, argument("PIPELINE", PIPELINE)],  # a cluster's machines find a package by its name
    input_path: Annotated[
        str, argument("INPUT", "Text (a document per line), .jsonl, .csv, .tsv, .parquet, PubTator, BioC, or a folder.")
    ],
    output: Annotated[
        str, argument("OUTPUT", ".jsonl, .csv, .tsv, .parquet, .pubtator, .xml (BioC) or .brat (a folder).")
    ],
    format_name: InputFormat = "auto",
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    to: Annotated[
        str, option("NAME", "Output format: jsonl, csv, tsv, parquet, pubtator, bioc, brat, omop; auto = by name.")
    ] = "auto",
    engine: Annotated[str, option("NAME", "local, ray, or another registered one.")] = "local",
    settings: Settings = None,
    n_process: Annotated[int, option("N", "Number of processes.", min=1)] = 1,
    batch_size: Annotated[int | None, option("N", "Documents per batch. [default: engine's]", min=1, max=10**6)] = None,
    n_candidates: Annotated[int, option("N", "Candidates written per mention.", min=0)] = 5,
    codes: Annotated[
        list[str] | None,
        option("NAMES", "Add the codes in these vocabularies of the KB, such as MESH,ICD10CM; all = every one."),
    ] = None,
    min_p: Annotated[float, option("P", "Leave out mentions whose P(right) is below.", min=0.0, max=1.0)] = 0.0,
    omop_concepts: Annotated[
        Path | None, option("FILE", "With --to omop: CONCEPT.csv of Athena, for concept ids of the codes.")
    ] = None,
    part_size: Annotated[int | None, option("N", "Documents per saved part. [default: 2%, 10 to 1,000]", min=1)] = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
) -> None:
    """Link a corpus. Each line of a .jsonl output is a document with its mentions, ids and candidates; each row of a
    .csv or .tsv output is a mention.

    Input and output may be gzipped (.gz), except for Parquet. The other columns of a table go along.
    Results are saved part by part. To continue an interrupted run, run the same command with --resume. Documents
    on which the pipeline fails are left out and listed; all others are linked.

    Example: spacy-pel link training/pipeline abstracts.csv linked.csv --text-column abstract --id-column pmid
    """
    from ..engines import LinkJob
    from ._settings import make_reader, parse_settings, split_names

    names = tuple(split_names(",".join(codes or [])))
    if omop_concepts and (to != "omop" or not names):
        raise PelError(Errors.E690.format(got="--codes" if to == "omop" else "--to omop"))
    of_engine = {"n_process": n_process, "batch_size": batch_size, **parse_settings(settings or [])}
    run = make_reader("pel_engines", engine, of_engine)
    result = run(
        LinkJob(
            *(pipeline, input_path, output, format_name, to, n_candidates, part_size, resume, overwrite),
            codes=names,
            min_p=min_p,
            omop_concepts=str(omop_concepts or ""),
            text_column=text_column,
            id_column=id_column,
            code=tuple(map(str, ctx.meta[CODE])),
        )
    )
    if not result["mentions"] and result["documents"] > result.get("without_text", 0):
        why = f", or none has P(right) of {min_p:g}" if min_p else ""
        message(f"No mentions were found{why}. Does the pipeline have a component that finds them (ner)?")
    if left_out := result.get("left_out"):
        n = f"{len(left_out):,} document{'s' * (len(left_out) > 1)}"
        shown = [f"{document['id']} ({document['error']})" for document in left_out[:_N_LEFT_OUT]]
        named = listed(shown, len(left_out), "; ")
        message(Warnings.W605.format(n=n, shown=named, path=result.get("left_out_in", "--json")))
    counted = {"output": output, **result, **({"left_out": len(left_out)} if left_out else {})}
    emit({"output": output, **result}, lambda _: key_values(counted))

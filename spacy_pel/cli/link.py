"""The command ``link``: runs a pipeline over a corpus of any size, with an engine."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import Errors, PelError, Warnings, listed
from ._app import CODE, pel_cli
from ._options import PIPELINE, IdColumn, InputFormat, Overwrite, Resume, Settings, TextColumn, argument, option
from ._output import JSON, emit, key_values, message

_N_SHOWN = 5  # documents left out


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
    omop_concepts: Annotated[
        Path | None, option("FILE", "With --to omop: CONCEPT.csv of Athena, for concept ids of the codes.")
    ] = None,
    part_size: Annotated[int | None, option("N", "Documents per saved part. [default: 2%, 10 to 1,000]", min=1)] = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    as_json: bool = JSON,
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
            omop_concepts=str(omop_concepts or ""),
            text_column=text_column,
            id_column=id_column,
            code=tuple(map(str, ctx.meta[CODE])),
        )
    )
    if not result["mentions"] and result["documents"] > result.get("without_text", 0):
        message("No mentions were found. Does the pipeline have a component that finds them (ner)?")
    if left_out := result.get("left_out"):
        n = f"{len(left_out):,} document{'s' * (len(left_out) > 1)}"
        shown = [f"{document['id']} ({document['error']})" for document in left_out[:_N_SHOWN]]
        named = listed(shown, len(left_out), "; ")
        message(Warnings.W605.format(n=n, shown=named, path=result.get("left_out_in", "--json")))
    counted = {"output": output, **result, **({"left_out": len(left_out)} if left_out else {})}
    emit({"output": output, **result}, as_json=as_json, text=lambda _: key_values(counted))

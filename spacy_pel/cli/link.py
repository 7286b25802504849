"""The command ``link``: runs a pipeline over a corpus of any size, with an engine."""

from typing import Annotated

from ..errors import Warnings
from ._app import pel_cli
from ._options import PIPELINE, Overwrite, Resume, Settings, Share, argument, option
from ._output import JSON, emit, key_values, message

_N_SHOWN = 5  # documents left out


@pel_cli.command("link", rich_help_panel="Link")
def link(
    pipeline: Annotated[str, argument("PIPELINE", PIPELINE)],  # a cluster's machines find a package by its name
    input_path: Annotated[
        str,
        argument("INPUT", ".txt (a document per line), .jsonl, .parquet, PubTator, BioC, or a folder of .txt or BioC."),
    ],
    output: Annotated[str, argument("OUTPUT", "A file .jsonl, .parquet, .pubtator or .xml (BioC), or a folder .brat.")],
    format_name: Annotated[str, option("NAME", "txt, jsonl, parquet, pubtator, bioc, auto.", "--format")] = "auto",
    to: Annotated[str, option("NAME", "Output format: jsonl, parquet, pubtator, bioc, brat; auto = by name.")] = "auto",
    engine: Annotated[str, option("NAME", "local, ray, spark, or another registered one.")] = "local",
    settings: Settings = None,
    n_process: Annotated[int, option("N", "Number of processes.", min=1)] = 1,
    batch_size: Annotated[int | None, option("N", "Documents per batch. [default: engine's]", min=1, max=10**6)] = None,
    n_candidates: Annotated[int, option("N", "Candidates written per mention.", min=0)] = 5,
    new_share: Share = "corpus",
    part_size: Annotated[int | None, option("N", "Documents per saved part. [default: 2%, 10 to 1,000]", min=1)] = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    as_json: bool = JSON,
) -> None:
    """Link a corpus. Each line of a .jsonl output is a document with its mentions, ids and candidates.

    Input and output may be gzipped (.gz), except for Parquet.
    Results are saved part by part. To continue an interrupted run, run the same command with --resume. Documents
    on which the pipeline fails are left out and listed; all others are linked.

    Example: spacy-pel link training/pipeline abstracts.txt linked.jsonl --n-process 2 --resume
    """
    from ..engines import LinkJob
    from ._settings import make_reader, parse_settings, share_option

    of_engine = {"n_process": n_process, "batch_size": batch_size, **parse_settings(settings or [])}
    run = make_reader("pel_engines", engine, of_engine)
    result = run(
        LinkJob(
            *(pipeline, input_path, output, format_name, to, n_candidates, part_size, resume, overwrite),
            new_share=share_option(new_share),
        )
    )
    if not result["mentions"] and result["documents"] > result.get("without_text", 0):
        message("No mentions were found. Does the pipeline have a component that finds them (ner)?")
    if left_out := result.get("left_out"):
        n = f"{len(left_out):,} document{'s' * (len(left_out) > 1)}"
        shown = "; ".join(f"{document['id']} ({document['error']})" for document in left_out[:_N_SHOWN])
        more = f" and {len(left_out) - _N_SHOWN:,} more" if len(left_out) > _N_SHOWN else ""
        message(Warnings.W605.format(n=n, shown=shown + more, path=result.get("left_out_in", "--json")))
    counted = {"output": output, **result, **({"left_out": len(left_out)} if left_out else {})}
    emit({"output": output, **result}, as_json=as_json, text=lambda _: key_values(counted))

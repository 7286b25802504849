"""The command ``demo``: link some texts, print a table, write a page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ._app import pel_cli
from ._encoder import default_pipeline
from ._output import JSON, emit, message

_N_CANDIDATES = 5


@pel_cli.command("demo")
def demo(
    text: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Your own text (repeatable); default: three abstracts.")
    ] = None,
    pipeline: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The pipeline folder; default: the default pipeline.")
    ] = None,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for links.jsonl and links.html.")] = Path(
        "demo"
    ),
    as_json: bool = JSON,
) -> None:
    """Link texts, print what was found and write it as JSON lines and as a page.

    Example: spacy-pel demo --text "Methotrexate in rheumatoid arthritis."
    """
    from ..corpora.document_stream import process_documents
    from ..evaluation.report import render_links
    from ..pipeline.records import document_record
    from ..pipeline.saved import load_pipeline
    from ..types import Document
    from ..util import atomic_path, write_jsonl
    from ._demo_texts import DEMO_TEXTS

    texts = {f"Text {number}": one for number, one in enumerate(text, start=1)} if text else DEMO_TEXTS
    pipeline = pipeline or default_pipeline("--pipeline")
    nlp, _, component = load_pipeline(pipeline)
    kb = component.kb
    given = [Document(title, one) for title, one in texts.items()]
    processed = process_documents(nlp, given, batch_size=len(given))
    records = [document_record(component, one, _N_CANDIDATES) for one in processed]
    for failed in (record for record in records if "error" in record):
        raise PelError(Errors.E606.format(id=failed["id"], got=failed["error"]))
    page = render_links(
        records,
        title="Linked texts",
        name_of=lambda entity_id: kb[entity_id].canonical_name,
        description=f"Pipeline {pipeline.name}, knowledge base of {len(kb):,} entities.",
    )
    write_jsonl(output / "links.jsonl", records)
    with atomic_path(output / "links.html") as part:
        part.write_text(page, encoding="utf8")
    message(f"Wrote {output / 'links.jsonl'} and {output / 'links.html'}")
    emit({"documents": records}, as_json=as_json, text=lambda result: _tables(result, kb))


def _tables(result: dict[str, Any], kb: Any) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ..evaluation.report import NOTE, PROBABILITY, LinkRow, link_row
    from ..types import NIL

    titles = {"kb_id": "id", "probability": PROBABILITY, "runner_up": "runner-up"}
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    with console.capture() as captured:
        for document in result["documents"]:
            table = Table(title=Text(document["id"]), title_justify="left", caption=None, expand=False)
            for column in LinkRow._fields:
                table.add_column(titles.get(column, column), overflow="fold")
            for mention in document["mentions"]:
                row = link_row(mention, lambda entity_id: kb[entity_id].canonical_name)
                style = "yellow" if row.kb_id == NIL else None
                table.add_row(*map(Text, row), style=style)
            console.print(table)
            if not document["mentions"]:
                console.print("No mention was found.")
        console.print(NOTE, style="dim")
    return captured.get().rstrip("\n")

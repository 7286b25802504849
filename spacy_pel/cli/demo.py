"""The command ``demo``: link some texts, print a table, write a page."""

from pathlib import Path
from typing import Annotated, Any

from ..errors import Errors, PelError
from ..pipeline.saved import load_pipeline, pipeline_folder
from ._app import pel_cli
from ._options import option
from ._output import JSON, emit, message, text_table
from ._saved_pipeline import default_pipeline

_N_CANDIDATES = 5
# written for this command in the style of abstracts. They hold words with several meanings (cold, discharge), define
# abbreviations, and name drugs (murepavadin, sotagliflozin) that the default knowledge base lacks
_TEXTS = {
    "Winter infections of the airways": (
        "Children with asthma were followed through one winter. The common cold was followed by wheezing "
        "in most children, and rhinovirus was found in nasal discharge. In a second group of adults with "
        "chronic obstructive pulmonary disease (COPD), cough and pneumonia were recorded. Exposure to "
        "cold increased the activity of brown adipose tissue in mice, but not in patients with COPD."
    ),
    "Pseudomonas in cystic fibrosis": (
        "Bacterial culture of the sputum was positive for Pseudomonas aeruginosa in 46 adults with cystic "
        "fibrosis (CF). Patients with CF were treated with azithromycin until hospital discharge. We also "
        "tested murepavadin against Pseudomonas aeruginosa. In interviews after discharge, most patients "
        "reported vomiting or diarrhea, but no hearing loss."
    ),
    "A trial in polycystic ovary syndrome": (
        "The effect of sotagliflozin on insulin resistance was studied in polycystic ovary syndrome "
        "(PCOS). Patients with PCOS received metformin or sotagliflozin for 24 weeks. Obesity and blood "
        "glucose decreased, and ovulation returned in half of the patients. Vaginal discharge was more "
        "common with sotagliflozin than with metformin, but no sepsis occurred."
    ),
}


@pel_cli.command("demo", rich_help_panel="Link")
def demo(
    text: Annotated[list[str] | None, option("TEXT", "Your own text (repeatable). Default: three abstracts.")] = None,
    pipeline: Annotated[
        Path | None,
        option("PIPELINE", "[default: en_pel_medmentions, or assets/pel_medmentions]", parser=pipeline_folder),
    ] = None,
    output: Annotated[Path, option("FOLDER", "Folder for the results.")] = Path("demo"),
    as_json: bool = JSON,
) -> None:
    """Link texts, print a table, and write links.jsonl and the page links.html.

    Example: spacy-pel demo --text "Methotrexate in rheumatoid arthritis."
    """
    from ..corpora.document_stream import process_documents
    from ..evaluation.links import render_links
    from ..pipeline.records import document_record
    from ..types import Document
    from ..util import atomic_path, write_jsonl

    texts = {f"Text {n}": entry for n, entry in enumerate(text, start=1)} if text else _TEXTS
    pipeline = pipeline or default_pipeline("--pipeline")
    nlp, _, component = load_pipeline(pipeline)
    kb = component.kb
    documents = [Document(title, content) for title, content in texts.items()]
    processed = process_documents(nlp, documents, batch_size=len(documents))
    records = [document_record(component, document, _N_CANDIDATES) for document in processed]
    for failed in (record for record in records if "error" in record):
        raise PelError(Errors.E606.format(id=failed["id"], got=failed["error"]))
    about = f"Pipeline {pipeline.name}, knowledge base of {len(kb):,} entities."
    page = render_links(records, title="Linked texts", entity_of=kb.__getitem__, description=about)
    write_jsonl(output / "links.jsonl", records)
    with atomic_path(output / "links.html") as part:
        part.write_text(page, encoding="utf8")
    message(f"Wrote {output / 'links.jsonl'} and {output / 'links.html'}")
    emit({"documents": records}, as_json=as_json, text=lambda result: _tables(result, kb))


def _tables(result: dict[str, Any], kb: Any) -> str:
    from ..evaluation.links import NOTE, PROBABILITY, LinkRow, link_row

    titles = {"kb_id": "id", "probability": PROBABILITY, "runner_up": "runner-up"}
    header = [titles.get(column, column) for column in LinkRow._fields]
    parts: list[str] = []
    for document in result["documents"]:
        rows = [link_row(mention, kb.__getitem__) for mention in document["mentions"]]
        parts += [document["id"], text_table(header, rows, numbers=False) if rows else "No mentions were found.", ""]
    return "\n".join([*parts, NOTE])

"""The commands ``explain`` and ``verify``, which look at a pipeline."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from ..errors import Errors, PelError
from ..pipeline.saved import load_pipeline
from ._app import pel_cli
from ._options import Pipeline, PipelineOrFolder, argument, option
from ._output import JSON, emit, message


@pel_cli.command("explain", rich_help_panel="Link")
def explain(
    pipeline: Pipeline,
    text: Annotated[str, argument("TEXT", "The text to link.")],
    mention: Annotated[int | None, option("N", "Explain only this mention of the text; the first is 1.", min=1)] = None,
    n_candidates: Annotated[int, option("N", "Candidates per mention.", min=1)] = 5,
    as_json: bool = JSON,
) -> None:
    """Link a text and print the evidence for the candidates of each mention: cosines, counts, spelling, and what
    each candidate is.

    Example: spacy-pel explain assets/pel_medmentions "CF was severe." --mention 1
    """
    from ..pipeline.mentions import mention_spans

    nlp, _, component = load_pipeline(pipeline)
    doc = nlp(text)
    spans = mention_spans(doc, component.spans_key)
    if mention is not None and mention > len(spans):
        raise PelError(Errors.E676.format(n=len(spans), got=mention))
    explanations = [component.explain(span) for span in (spans if mention is None else spans[mention - 1 : mention])]
    texts = [explanation.to_text(n_candidates) for explanation in explanations] or ["No mentions were found."]
    shortened = [replace(one, candidates=one.candidates[:n_candidates]) for one in explanations]
    emit({"mentions": [asdict(one) for one in shortened]}, as_json=as_json, text=lambda _: "\n\n".join(texts))


@pel_cli.command("verify", rich_help_panel="Link")
def verify(path: PipelineOrFolder, as_json: bool = JSON) -> None:
    """Read every file and compare its size and SHA-256 hash with the manifest.

    Opening a folder checks the sizes alone. The files of spaCy's own components have no manifest.

    Example: spacy-pel verify assets/pel_medmentions
    """
    from ..util.saved_folder import is_hidden, verify_folders

    folders = verify_folders(path)
    covered = {Path(folder["folder"]) for folder in folders}
    files = (file for file in path.rglob("*") if file.is_file() and not is_hidden(file, path))
    others = [file for file in files if not covered.intersection(file.parents)]
    if others:
        message(f"{len(others)} files of spaCy's own have no manifest.")
    emit({"folders": folders, "files_without_manifest": len(others)}, as_json=as_json, text=_text)


def _text(result: dict[str, Any]) -> str:
    return "\n".join(
        f"{folder['folder']}: {folder['kind']}, {folder['files']} files, {folder['bytes'] / 1e6:,.1f} MB, as saved"
        for folder in result["folders"]
    )

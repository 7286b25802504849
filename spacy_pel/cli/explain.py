"""The command ``explain``: why the mentions of a text are linked as they are."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ._app import pel_cli
from ._output import JSON, emit


@pel_cli.command("explain")
def explain(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline folder.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text to link.")],
    mention: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Explain this mention of the text only, from 1.")
    ] = None,
    n_candidates: Annotated[int, typer.Option(metavar="N", min=1, help="Candidates of each mention.")] = 5,
    as_json: bool = JSON,
) -> None:
    """Link a text and print the evidence for the candidates of each mention: cosines, counts, spelling.

    Example: spacy-pel explain assets/pel_medmentions "CF was severe." --mention 1
    """
    from ..pipeline.mentions import mention_spans
    from ..pipeline.saved import load_pipeline

    nlp, _, component = load_pipeline(pipeline)
    doc = nlp(text)
    spans = mention_spans(doc, component.spans_key)
    if mention is not None and mention > len(spans):
        raise PelError(Errors.E676.format(n=len(spans), got=mention))
    chosen = spans if mention is None else spans[mention - 1 : mention]
    found = [component.explain(span) for span in chosen]
    shown = [replace(one, candidates=one.candidates[:n_candidates]) for one in found]
    texts = [one.to_text(n_candidates) for one in found] or ["No mention was found."]
    result: dict[str, Any] = {"mentions": [asdict(one) for one in shown]}
    emit(result, as_json=as_json, text=lambda _: "\n\n".join(texts))

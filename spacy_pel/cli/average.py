"""The command ``average``: the average of two encoders' weights."""

from pathlib import Path
from typing import Annotated

import typer

from ._app import pel_cli
from ._output import JSON, emit, key_values


@pel_cli.command("average")
def average(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model folder, or a pipeline with one linker.")],
    other: Annotated[Path, typer.Argument(metavar="OTHER", help="Another one, trained from the same initial weights.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The model folder to write.")],
    weight: Annotated[
        float, typer.Option(metavar="NUMBER", min=0, max=1, help="Weight of OTHER; MODEL has the rest.")
    ] = 0.5,
    as_json: bool = JSON,
) -> None:
    """Average the weights of two bi-encoders. Two trainings from the same start, say by different losses,
    become one encoder that has learnt from both. An encoder that was trained on one corpus gets back what it
    has forgotten of other ontologies when it is averaged with the one it was trained from.

    Example: spacy-pel average training/encoder_ce/model-best training/encoder_proxy/model-best
    training/encoder/model-best --weight 0.5
    """
    from ..encoders.average import average as mix
    from ._encoder import open_bi_encoder

    encoder = mix(open_bi_encoder(str(model)), open_bi_encoder(str(other)), weight=weight)
    encoder.to_disk(out)
    emit({"model": str(out), "fingerprint": encoder.fingerprint}, as_json=as_json, text=key_values)

"""Loading pipelines for commands, with one-line errors."""

from ..pipeline.saved import (
    FACTORY,
    LoadedPipeline,
    linker_names,
    load_pipeline,
    load_spacy,
    saved_part,
    saved_parts,
)

__all__ = [
    "FACTORY",
    "LoadedPipeline",
    "linker_names",
    "load_pipeline",
    "load_spacy",
    "saved_part",
    "saved_parts",
]

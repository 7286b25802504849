"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

# -- arguments
Pipeline = Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline folder.")]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A model folder, e.g. training/model-best, or a pipeline, for its encoder."),
]
KB = Annotated[Path, typer.Argument(metavar="KB", help="The KB folder.")]
KBOrPipeline = Annotated[Path, typer.Argument(metavar="KB", help="The folder of a KB or of a pipeline.")]
OldKB = Annotated[Path, typer.Argument(metavar="OLD", help="The old KB, or a pipeline with it.")]
CurrentKB = Annotated[Path, typer.Argument(metavar="NEW", help="The new KB, or a pipeline with it.")]
Corpus = Annotated[Path, typer.Argument(metavar="CORPUS.jsonl", help="The annotated corpus (JSON lines).")]
Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="A training config, with a [pel] section.")]
NewPipeline = Annotated[Path, typer.Argument(metavar="OUT", help="The pipeline folder to write.")]
NewKB = Annotated[Path, typer.Argument(metavar="OUT", help="The KB folder to write; an existing KB is replaced.")]
NewModel = Annotated[Path, typer.Argument(metavar="OUT", help="The model folder to write.")]
NewIndex = Annotated[Path, typer.Argument(metavar="OUT", help="The index folder to write.")]

# -- options
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A setting of the reader or engine, as JSON or text (repeatable)."
    ),
]
TrainingOutput = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for models and metrics.jsonl.")
]
GpuId = Annotated[int, typer.Option("--gpu-id", "-g", metavar="N", help="CUDA device; -1 = CPU.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing output.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]
TrainingCorpora = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Training corpus, to tell seen from unseen entities (repeatable)."),
]
KBForTypes = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="A KB or pipeline, for names, known ids and types.")
]
Backend = Annotated[
    str | None, typer.Option(metavar="NAME", help="Inference backend, e.g. torchbackend or openvinobackend.")
]
Codes = Annotated[
    str | None, typer.Option(metavar="NAME", help="Precision of the rows: fp32, fp16, int8, or with faissivf pq.")
]
Pca = Annotated[int | None, typer.Option(metavar="N", min=1, help="Width after a PCA rotation. Default: no PCA.")]
RowBytes = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Bytes per row (pq). Default: a quarter of the width.")
]

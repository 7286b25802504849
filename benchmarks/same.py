"""Link texts by every way, and compare the answers byte for byte.

    python -m benchmarks.same assets/pel_medmentions corpus/test.jsonl --texts 2000

The sentences of the corpus are linked one by one, by ``nlp.pipe`` in batches of several sizes and orders and with two
processes, and by ``link`` with one and two processes, with Ray and with Spark where these are installed. The exit code
is 1 if a text gets other mentions, links, scores or probabilities by one of the ways.
"""

import json
import random
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_pel.corpora.document_stream import ProcessedDocument
from spacy_pel.engines.batch import link_dataframe
from spacy_pel.engines.corpus import Corpus
from spacy_pel.engines.job import LinkJob
from spacy_pel.engines.local import LocalEngine
from spacy_pel.engines.ray import RayEngine
from spacy_pel.pipeline.mentions import document_record
from spacy_pel.pipeline.saved import LoadedPipeline, load_pipeline
from spacy_pel.types import Document
from spacy_pel.util import write_jsonl

_CANDIDATES = 64
_SIZES = (2, 7, 64, 1000)  # texts in a batch


def sentences(corpus: Path, n: int) -> list[str]:
    """The first n of a corpus, cut after full stops and at line ends."""
    lines = (line for document in Corpus(corpus) for line in document.text.replace(". ", ".\n").split("\n"))
    return list(islice(filter(str.strip, lines), n))


def piped(loaded: LoadedPipeline, texts: Sequence[str], order: Sequence[int], **settings: Any) -> list[str]:
    """The answers of ``nlp.pipe`` to texts in some order, as JSON with all digits; in the texts' own order."""
    answers = [""] * len(texts)
    for number, doc in zip(order, loaded.nlp.pipe((texts[i] for i in order), **settings), strict=True):
        answers[number] = answer(loaded, texts[number], doc)
    return answers


def answer(loaded: LoadedPipeline, text: str, doc: Any) -> str:
    """That of a Doc, as ``link`` writes it."""
    processed = ProcessedDocument(Document("", text), [(0, doc)], "")
    return json.dumps(document_record(loaded.component, processed, _CANDIDATES)["mentions"])


def linked(pipeline: Path, texts: Sequence[str], folder: Path, engine: Any) -> list[str]:
    """The answers of an engine."""
    write_jsonl(folder / "texts.jsonl", [{"id": str(i), "text": text} for i, text in enumerate(texts)])
    job = LinkJob(str(pipeline), str(folder / "texts.jsonl"), str(folder / "out.jsonl"), n_candidates=_CANDIDATES)
    engine(job)
    output = Path(job.output)
    files = sorted(output.glob("part-*")) if output.is_dir() else [output]
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf8").splitlines()]
    return [json.dumps(row["mentions"]) for row in sorted(rows, key=lambda row: int(row["id"]))]


def with_spark(pipeline: Path, texts: Sequence[str]) -> list[str]:
    """The answers of two executors' cores, a document at a time."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    df = spark.createDataFrame([(str(i), text) for i, text in enumerate(texts)], ["id", "text"]).repartition(4)
    rows = link_dataframe(df, str(pipeline.absolute()), n_candidates=_CANDIDATES).collect()
    spark.stop()
    mentions = [[mention.asDict(recursive=True) for mention in row["mentions"]] for row in rows]
    for mention in (mention for of_row in mentions for mention in of_row):
        mention["candidates"] = [[found["id"], found["score"]] for found in mention["candidates"]]
    return [json.dumps(of_row) for _, of_row in sorted(zip([int(row["id"]) for row in rows], mentions, strict=True))]


def same_numbers(answers: Sequence[str], expected: Sequence[str]) -> list[int]:
    """Which texts got another answer. Columns of a table that a mention has no value for do not count."""
    return [i for i, pair in enumerate(zip(answers, expected, strict=True)) if not _are_equal(*map(json.loads, pair))]


def _are_equal(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        keys = found.keys() | expected.keys()
        return isinstance(found, dict) and all(_are_equal(found.get(key), expected.get(key)) for key in keys)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(_are_equal, found, expected))
    return bool(found == expected)


def main(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder.")],
    corpus: Annotated[Path, typer.Argument(help="Texts, as link reads them.")],
    texts: Annotated[int, typer.Option(min=2, help="Number of sentences.")] = 2000,
    seed: Annotated[int, typer.Option(help="Random seed of the orders.")] = 0,
) -> None:
    """Print for each way how many texts got another answer than on their own."""
    loaded, some = load_pipeline(pipeline), sentences(corpus, texts)
    rng, order = random.Random(seed), list(range(len(some)))
    expected = [answer(loaded, text, loaded.nlp(text)) for text in some]
    ways: dict[str, Callable[[], list[str]]] = {}
    for size in _SIZES:
        shuffled = rng.sample(order, len(order))
        ways[f"nlp.pipe, batches of {size}, shuffled"] = partial(piped, loaded, some, shuffled, batch_size=size)
    ways["nlp.pipe, 2 processes"] = partial(piped, loaded, some, order, n_process=2, batch_size=32)
    ways["nlp.pipe, loaded again"] = lambda: piped(load_pipeline(pipeline), some, order, batch_size=128)
    with tempfile.TemporaryDirectory(prefix="pel_same_") as holder:
        engines: dict[str, Any] = {"link, 1 process": LocalEngine(), "link, 2 processes": LocalEngine(n_process=2)}
        if find_spec("ray"):
            engines["link with Ray, 2 processes"] = RayEngine(n_process=2)
        for number, (way, engine) in enumerate(engines.items()):
            (folder := Path(holder) / str(number)).mkdir()
            ways[way] = partial(linked, pipeline, some, folder, engine)
        if find_spec("pyspark"):
            ways["Spark, 2 cores"] = partial(with_spark, pipeline, some)
        n_other = 0
        for way, answers in ways.items():
            other = same_numbers(answers(), expected)
            n_other += len(other)
            typer.echo(f"{way}: {len(other)} of {len(some):,} texts differ" + (f", {other[:5]}" if other else ""))
    if n_other:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)

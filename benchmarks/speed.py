"""Measure how fast linkers load and link, and the memory they take: ours and its peers, in one run.

    python -m benchmarks.speed assets/pel_medmentions corpus.jsonl --documents 50

Each linker runs in a new process, over the same documents twice: cold, then warm. The peers get the names of
the pipeline's KB. ``--entities`` adds made-up KBs of other sizes, linked with a hash encoder.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.kb_open import made_up_entities, memory

OURS = "spacy_pel"
MODES = {OURS: "never", "spacy_pel, context always": "always"}
TORCH, OPENVINO = "spacy_pel, torch", "spacy_pel, OpenVINO"
SCISPACY, SPACY = "scispaCy candidates", "spaCy candidates"
BACKENDS = {TORCH: "spacy-pel.TorchBackend.v1", OPENVINO: "spacy-pel.OpenVinoBackend.v1"}
DEFAULT = (*MODES, SCISPACY, SPACY)
NAME = "proxy_entity_linker"
Figures = dict[str, float | None]  # by the names of the columns
COLUMNS = {
    "load_seconds": "load, s",
    "load_cpu_seconds": "load, CPU s",
    "first_seconds": "first doc., s",
    "cold_documents_per_second": "doc./s cold",
    "warm_documents_per_second": "doc./s warm",
    "warm_mentions_per_second": "mentions/s warm",
    "linking_mentions_per_second": "gold mentions/s, linking alone",
    "resident_mb": "resident MB",
    "private_mb": "private MB",
    "disk_mb": "disk MB",
}
NOTE = (
    "Loading includes imports; peers build their index from the KB when they load, and look up the mentions "
    "of spacy_pel's NER without linking them."
)


def measure(linker: str, pipeline: Path, documents: Sequence[dict[str, Any]]) -> Figures:
    """Load a linker and link the documents; run it in a new process.

    Args:
        documents: with "text" and the gold "mentions", pairs of offsets.

    Returns:
        The columns of the table; None = does not apply.
    """
    clock, cpu = time.perf_counter(), time.process_time()
    import spacy

    settings: dict[str, Any] = {"read_context": MODES.get(linker, MODES[OURS])}
    if linker in BACKENDS:
        settings["encoder"] = {"backend": {"@pel_backends": BACKENDS[linker]}}
    nlp = spacy.load(pipeline, config={"components": {NAME: settings}})
    texts = [document["text"] for document in documents]
    component: Any = nlp.get_pipe(NAME)
    find: Callable[[list[Any]], Any] = component.predict
    if linker in (SCISPACY, SPACY):
        kb = component.kb
        nlp.remove_pipe(NAME)
        clock, cpu = time.perf_counter(), time.process_time()  # the KB is there, the index is not
        find = _scispacy(kb) if linker == SCISPACY else _spacy(kb, nlp.vocab)
    loaded = {"load_seconds": time.perf_counter() - clock, "load_cpu_seconds": time.process_time() - cpu}

    def link() -> list[Any]:
        docs = list(nlp.pipe(texts))
        if NAME not in nlp.pipe_names:
            find(docs)
        return docs

    first, _ = _timed(lambda: find([nlp(texts[0])]))
    cold, docs = _timed(link)
    warm, docs = _timed(link)
    mentions = sum(len(doc.ents) for doc in docs)
    gold = [_gold_doc(nlp, document) for document in documents]
    find(gold)
    alone, _ = _timed(lambda: find(gold))
    n_gold, used = sum(len(doc.ents) for doc in gold), memory()
    return {
        **loaded,
        "first_seconds": first,
        "cold_documents_per_second": len(docs) / cold,
        "warm_documents_per_second": len(docs) / warm,
        "warm_mentions_per_second": mentions / warm,
        "linking_mentions_per_second": n_gold / alone,
        "resident_mb": used["own"] + used["files"],
        "private_mb": used["private"],
        "disk_mb": sum(file.stat().st_size for file in pipeline.rglob("*") if file.is_file()) / 1e6,
    }


def _gold_doc(nlp: Any, document: dict[str, Any]) -> Any:
    from spacy.util import filter_spans

    doc = nlp.make_doc(document["text"])
    spans = [doc.char_span(start, end, label="ENTITY", alignment_mode="expand") for start, end in document["mentions"]]
    doc.ents = filter_spans([span for span in spans if span is not None])
    return doc


def _scispacy(kb: Any) -> Callable[[list[Any]], Any]:
    from benchmarks.peers import ScispacyLinker

    linker = ScispacyLinker(kb)
    return lambda docs: linker.rank([ent.text for doc in docs for ent in doc.ents])


def _spacy(kb: Any, vocab: Any) -> Callable[[list[Any]], Any]:
    """The look-up of ``entity_linker``: the entities with this alias, each as likely as the others."""
    from spacy.kb import InMemoryLookupKB

    table = InMemoryLookupKB(vocab, entity_vector_length=1)
    ids: dict[str, list[str]] = {}
    for entity in kb.entities():
        table.add_entity(entity.concept_id, freq=1, entity_vector=[0.0])
        for name in {entity.canonical_name, *entity.aliases}:
            ids.setdefault(name, []).append(entity.concept_id)
    for name, found in ids.items():
        table.add_alias(name, found, [1 / len(found) - 1e-9] * len(found))
    return lambda docs: [list(table.get_candidates(ent)) for doc in docs for ent in doc.ents]


def _timed(function: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def measure_apart(linker: str, pipeline: Path, texts: Path) -> Figures:
    """Run ``measure`` in a new process.

    Args:
        texts: a file of JSON with the documents.
    """
    command = [sys.executable, "-m", "benchmarks.speed", str(pipeline), str(texts), "--only", linker]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: Figures = json.loads(done.stdout)
    return found


def made_up_pipeline(folder: Path, n_entities: int) -> list[str]:
    """Save a pipeline whose KB has this many made-up entities with two aliases each.

    Returns:
        100 documents, each with one of their names, which its ruler marks.
    """
    import spacy

    from spacy_pel.kb import KnowledgeBase

    kb = KnowledgeBase.build(made_up_entities(n_entities, 2 * n_entities), folder / "kb")
    names = [entity.canonical_name for entity in islice(kb.entities(), 100)]
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "X", "pattern": name} for name in names])  # type: ignore[attr-defined]
    encoder = {"@pel_encoders": "spacy-pel.HashEmbed.v1", "width": 384}
    linker: Any = nlp.add_pipe(NAME, config={"encoder": encoder, "row_kinds": ["card"]})
    linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: kb)
    nlp.to_disk(folder / "pipeline")
    return [f"Patients had {name} in this study." for name in names]


def main(
    pipeline: Annotated[Path, typer.Argument(help="Our pipeline.")],
    corpus: Annotated[Path, typer.Argument(help="Documents: JSON lines with a text.")],
    documents: Annotated[int, typer.Option(help="Number of documents.")] = 50,
    linker: Annotated[list[str] | None, typer.Option(help=f"Any of {DEFAULT + (OPENVINO,)}.")] = None,
    entities: Annotated[list[int] | None, typer.Option(help="Sizes of made-up KBs.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
    only: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Compare linkers and sizes of the KB; print tables."""
    if only is not None:
        asked = json.loads(corpus.read_text(encoding="utf8"))
        typer.echo(json.dumps(measure(only, pipeline, asked)))
        return
    from spacy_pel.corpora import read_corpus
    from spacy_pel.util import machine_note, write_json

    tables: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="pel_speed_") as holder:
        file = Path(holder) / "texts.json"
        write_json(file, [_as_json(document) for document in islice(read_corpus(corpus), documents)])
        tables["linkers"] = {name: measure_apart(name, pipeline, file) for name in linker or DEFAULT}
        tables["entities"] = {}
        for n in entities or []:
            folder = Path(holder) / str(n)
            write_json(
                file, [{"text": text, "mentions": [[13, len(text) - 15]]} for text in made_up_pipeline(folder, n)]
            )
            tables["entities"][f"{n:,}"] = measure_apart(OURS, folder / "pipeline", file)
    for title, rows in tables.items():
        _print_table(title, rows)
    Console(width=160).print(f"{machine_note()}. {NOTE}", soft_wrap=True)
    if output is not None:
        write_json(output, {"machine": machine_note(), "documents": documents, **tables})


def _as_json(document: Any) -> dict[str, Any]:
    return {"text": document.text, "mentions": [[mention.start, mention.end] for mention in document.mentions]}


def _print_table(title: str, rows: dict[str, Figures]) -> None:
    if not rows:
        return
    table = Table(title=title)
    table.add_column("", no_wrap=True)
    for column in COLUMNS.values():
        table.add_column(column, justify="right")
    for name, found in rows.items():
        values = [found[key] for key in COLUMNS]
        table.add_row(name, *("–" if value is None else f"{value:,.1f}" for value in values))
    Console(width=160).print(table)


if __name__ == "__main__":
    typer.run(main)

"""The commands of the group ``candidates``: build generators, compare their recall@k, add one to a pipeline."""

import shutil
import time
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...cli._app import command_group
from ...cli._kb import open_kb
from ...cli._options import Corpus, Files, KBOrPipeline, NewPipeline, Pipeline, Settings, argument, option
from ...cli._output import emit, message, text_table
from ...cli._settings import make_reader, parse_settings
from ...errors import Errors, PelError

if TYPE_CHECKING:
    from ...kb import KnowledgeBase
    from ...types import CandidateGenerator

TrainCorpora = Annotated[
    list[Path] | None, option("FILE", "Training corpus, to tell seen from unseen entities (repeatable).")
]
_BUILD = "build.json"

candidates_cli = command_group("candidates", "Build and compare candidate generators.", panel="Train")


@candidates_cli.command("build")
def candidates_build(
    kb: KBOrPipeline,
    out: Annotated[Path, argument("OUT", "The folder to write; an existing generator is replaced.")],
    generator: Annotated[str, option("NAME", "tfidf, aliasmatch, or a registered one.")],
    settings: Settings = None,
) -> None:
    """Build a candidate generator for `candidates eval` and `candidates add`.

    Example: spacy-pel candidates build corpus/kb training/tfidf --generator tfidf
    """
    from ...util import atomic_path
    from ...util.files import folder_size
    from ...util.saved_folder import add_to_part

    made = make_reader("pel_candidates", generator, parse_settings(settings or []))
    if made.needs_encoder:
        raise PelError(Errors.E449.format(generator=made.registered_name))
    entities = open_kb(kb)
    started = time.perf_counter()
    made.build(entities, show_progress=True)
    seconds = time.perf_counter() - started
    with atomic_path(out) as part:
        made.to_disk(part)
        add_to_part(part, _BUILD, {"seconds": seconds}, kind="generator")
    built = {"entities": len(entities), "seconds": seconds, "bytes": folder_size(out), "fingerprint": made.fingerprint}
    emit({"generator": made.registered_name, "settings": made.settings, **built})


@candidates_cli.command("eval")
def candidates_eval(
    kb: KBOrPipeline,
    corpus: Corpus,
    generators: Annotated[Files, argument("FOLDER", "Of `candidates build`.")] = None,
    output: Annotated[Path, option("FOLDER", "Folder for candidates.json and recall.png.")] = Path(
        "metrics/candidates"
    ),
    pipeline: Annotated[Path | None, option("FOLDER", "A pipeline with this KB, to compare its own retrieval.")] = None,
    train: TrainCorpora = None,
    limit_documents: Annotated[int | None, option("N", "Read only the first N documents.", min=1)] = None,
) -> None:
    """Measure the recall@k of candidate generators, over gold mentions whose entity is in the KB.

    Example: spacy-pel candidates eval corpus/kb corpus/test.jsonl training/tfidf training/alias
    --train corpus/train.jsonl --output metrics/candidates
    """
    from ...corpora import read_corpus, read_gold
    from ...evaluation import seen_in_corpus
    from ...evaluation.figures import recall_figure, save_figure
    from ...util import fingerprint, write_json
    from ..recall import LinkableMentions, measure_generator

    entities = open_kb(kb)
    loaded = _load_generators(entities, generators or [], pipeline)
    texts = chain.from_iterable(read_corpus(path) for path in train or [])
    gold = LinkableMentions.read(entities, islice(read_gold(corpus), limit_documents), seen_in_corpus(entities, texts))
    rows: dict[str, dict[str, Any]] = {}
    for label, (generator, seconds) in loaded.items():
        measured = measure_generator(entities, generator, gold, split=bool(train))
        about = {"generator": generator.registered_name, "settings": generator.settings}
        rows[label] = {**measured, "build_seconds": seconds, **about, "fingerprint": generator.fingerprint}
    n_documents = len({prediction.doc for prediction in gold.predictions})
    counts = {"n": len(gold.mentions), "n_nil": gold.n_nil, "n_documents": n_documents}
    origin = {"kb_fingerprint": entities.fingerprint, "corpus_fingerprint": fingerprint(corpus)}
    result = {**counts, "generators": rows, **origin}
    write_json(output / "candidates.json", result)
    save_figure(*recall_figure(rows), output / "recall.png")
    message(f"Wrote {output}")
    emit(result, _text)


def _load_generators(
    kb: "KnowledgeBase", folders: list[Path], pipeline: Path | None
) -> dict[str, tuple[Any, float | None]]:
    """Generator and seconds of its build, by label."""
    from ...pipeline.saved import load_pipeline
    from ...util import read_json
    from ..recall import load_generator
    from ..report.compare import run_names

    if not (folders or pipeline):
        raise PelError(Errors.E450)
    loaded: dict[str, tuple[Any, float | None]] = {}
    for label, folder in zip(run_names(folders), folders, strict=True):
        generator: CandidateGenerator = load_generator(folder, kb=kb)
        if generator.needs_encoder and pipeline is None:
            raise PelError(Errors.E449.format(generator=generator.registered_name))
        seconds = read_json(folder / _BUILD)["seconds"] if (folder / _BUILD).is_file() else None
        loaded[label] = (generator, seconds)
    if pipeline is not None:
        linker = load_pipeline(pipeline).component.linker
        if linker.kb.fingerprint != kb.fingerprint:
            raise PelError(Errors.E443.format(path=pipeline, theirs=linker.kb.fingerprint, ours=kb.fingerprint))
        for generator, _ in loaded.values():
            if generator.needs_encoder:
                generator.bind(linker.encoder, linker.index)
        loaded[str(pipeline) if pipeline.name in loaded else pipeline.name] = (linker.generator, None)
    return loaded


def _text(result: dict[str, Any]) -> str:
    """Counts, and a table in which a generator may have lines for seen and unseen entities."""
    from ..recall import RECALL_AT

    lines = []
    for label, row in result["generators"].items():
        seconds = row["build_seconds"]
        speed = [f"{row['mentions_per_second']:,.0f}", "–" if seconds is None else f"{seconds:,.1f}"]
        parts = {label: row, **{f"{label}, {part}": row[part] for part in ("seen", "unseen") if row.get(part)}}
        for name, recall in parts.items():
            shares = [f"{100 * recall[f'recall@{k}']:.1f}" for k in RECALL_AT]
            lines.append([name, *shares, f"{recall['n']:,}", *(speed if recall is row else ["", ""])])
    head = ["recall in percent", *(f"@{k}" for k in RECALL_AT), "n", "mentions/s", "build s"]
    counts = "{n:,} mentions in {n_documents:,} documents; {n_nil:,} NIL mentions left out".format(**result)
    return f"{counts}\n{text_table(head, lines)}"


@candidates_cli.command("add")
def candidates_add(
    pipeline: Pipeline,
    generator: Annotated[Path, argument("GENERATOR", "A folder of `candidates build`, built from the pipeline's KB.")],
    out: NewPipeline,
) -> None:
    """Write a copy of a pipeline whose linker uses a candidate generator in place of its vectors.

    Encoder and index are kept only if the generator needs them. Until you calibrate the copy, its evidence weights
    and NIL model have their defaults, and P(right) is not calibrated: those of the pipeline were fitted on other
    candidates.

    Example: spacy-pel candidates add training/pipeline training/tfidf training/pipeline_tfidf
    """
    from ...cli._saved_pipeline import learned_path
    from ...kb import KnowledgeBase
    from ...pipeline.linker_data import kind_of
    from ..recall import load_generator
    from .train import changed_copy

    kb = KnowledgeBase.from_disk(learned_path(pipeline).parent / "kb")
    added: Any = load_generator(generator, kb=kb)
    with changed_copy(pipeline, out) as copy:
        if added.needs_encoder and copy.settings.get("encoder") is None:
            raise PelError(Errors.E458.format(path=pipeline, generator=added.registered_name))
        copy.settings["generator"] = {"@pel_candidates": added.registered_name, **added.settings}
        copy.loaders.pop("generator_loader", None)
        for kind in () if added.needs_encoder else ("encoder", "index"):
            copy.settings[kind] = None
            copy.loaders.pop(f"{kind}_loader", None)
            shutil.rmtree(copy.folder / kind, ignore_errors=True)
        added.to_disk(copy.folder / "generator")
        copy.learned["generator"] = {"kind": kind_of(added)}
        copy.uncalibrate("combiner", "nil_model", "reranker")
    result = {"pipeline": str(out), "generator": kind_of(added), "encoder": added.needs_encoder}
    emit(result)

"""The commands ``train``, ``average`` and ``mine``, for bi-encoders and their hard negatives, and those of the group
``ranker``."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ...cli._app import command_group
from ...cli._options import KB, Backend, Corpus, Model, NewPipeline, Pipeline, Resume, argument, option
from ...cli._output import emit, key_values, message
from ...cli._saved_pipeline import encoder_folder, learned_path, read_learned
from ...cli._settings import json_or_text
from ...errors import Errors, PelError
from ...pipeline.saved import load_pipeline, load_spacy, pipeline_folder
from ...util import atomic_path, locked, write_json

Config = Annotated[Path, argument("CONFIG", "A training config, with a [pel] section.")]
NewModel = Annotated[Path, argument("OUT", "The model folder to write.")]
NewTraining = Annotated[Path, option("FOLDER", "Folder for models and metrics.jsonl.", "--output", "-o")]
GpuId = Annotated[int, option("N", "CUDA device; -1 = CPU.", "--gpu-id", "-g")]

CONFIG_CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}  # for commands with overrides

train_cli = command_group("train", "Train bi-encoders.", panel="Train")
ranker_cli = command_group("ranker", "Train rankers and add them to pipelines.", panel="Train")


@train_cli.command("train", rich_help_panel="Train", context_settings=CONFIG_CONTEXT)
def train(ctx: typer.Context, config: Config, output: NewTraining, gpu_id: GpuId = -1, resume: Resume = False) -> None:
    """Train a bi-encoder.

    Override settings with --section.key VALUE. Writes FOLDER/model-best, model-last, metrics.jsonl, steps.jsonl
    and a checkpoint.

    Example: spacy-pel train configs/pel_minilm.cfg --output training/encoder --pel.training.max_epochs 1
    """
    from ..retriever.loop import Trainer
    from ..retriever.settings import read_settings

    settings = read_settings(config, parse_overrides(ctx.args))
    best = Trainer(settings, output, gpu_id=gpu_id).run(resume=resume)
    _emit_best(best, output)


@train_cli.command("average", rich_help_panel="Train")
def average(
    model: Model,
    other: Annotated[Path, argument("OTHER", "A model trained from the same initial weights.")],
    out: NewModel,
    weight: Annotated[float, option("NUMBER", "Weight of OTHER; MODEL has the rest.", min=0, max=1)] = 0.5,
) -> None:
    """Average the weights of two bi-encoders, or of the detectors of two pipelines.

    The average of two trainings from the same start, e.g. with different losses, combines what both have learned. The
    average of a fine-tuned encoder and the one it was trained from regains what fine-tuning on one corpus made it
    forget about other ontologies.

    Example: spacy-pel average training/encoder_ce/model-best training/encoder_proxy/model-best
    training/encoder/model-best --weight 0.5
    """
    if (pipeline_folder(model) / "config.cfg").is_file():
        emit({"model": str(_average_detectors(model, other, out, weight))})
        return
    from ..retriever.loop import average as average_encoders

    encoder = average_encoders(open_bi_encoder(model), open_bi_encoder(other), weight=weight)
    encoder.to_disk(out)
    emit({"model": str(out), "fingerprint": encoder.fingerprint})


def _average_detectors(model: Path, other: Path, out: Path, weight: float) -> Path:
    """RAISES (PelError): if one is no pipeline, or they have no detectors that can be averaged."""
    from ...pipeline.detectors.mention_tagger import MentionTagger

    nlp = load_spacy(model)
    of_other: Any = dict(load_spacy(other).pipeline)
    pairs = [(pipe, of_other.get(name)) for name, pipe in nlp.pipeline]
    pairs = [pair for pair in pairs if all(isinstance(one, MentionTagger) for one in pair)]
    if not pairs or any(mine.labels != theirs.labels for mine, theirs in pairs):
        raise PelError(Errors.E354.format(name="pel_mention_tagger"))
    for mine, theirs in pairs:
        mine.move_towards(theirs, weight)
    with atomic_path(out) as part:
        nlp.to_disk(part)
    return out


@train_cli.command("mine", rich_help_panel="Train")
def mine(
    kb: KB,
    model: Model,
    corpus: Corpus,
    out: Annotated[Path, argument("OUT", "The file to write, .jsonl or .jsonl.gz.")],
    depth: Annotated[int, option("N", "Entities per mention.", min=1)] = 64,
    limit: Annotated[int, option("N", "Only the first N mentions; 0 = all.", min=0)] = 0,
    backend: Backend = None,
    gpu_id: GpuId = -1,
) -> None:
    """Find the nearest wrong entities of each mention in the whole knowledge base.

    Writes one line per mention: {"doc", "start", "end", "text", "gold", "rank", "negatives": [[id, score], ...]},
    nearest first. "rank" is the rank of the gold entity, null if it was not found. Pass the file to `train` as
    --paths.negatives.

    Example: spacy-pel mine corpus/kb training/model-best corpus/train.jsonl training/negatives.jsonl
    """
    from ...corpora import read_corpus
    from ...encoders.pretrained import load_encoder
    from ...kb import KnowledgeBase
    from ...registry import registry
    from ...util import write_jsonl
    from ..optimizer import find_device
    from ..retriever.examples import linked_mentions
    from ..retriever.miner import mine_corpus, mined_records

    chosen = registry.resolve_short("pel_backends", backend)() if backend else None
    knowledge = KnowledgeBase.from_disk(kb)
    mentions = linked_mentions(knowledge, read_corpus(corpus))[: limit or None]
    encoder: Any = load_encoder(encoder_folder(model), backend=chosen)
    for tower in (getattr(encoder, "towers", None) or {}).values():
        tower.to(find_device(gpu_id))
    message(f"Mining for {len(mentions):,} mentions among {len(knowledge):,} entities")
    mined, result = mine_corpus(knowledge, encoder, mentions, depth=depth)
    write_jsonl(out, mined_records(knowledge, mentions, mined))
    emit({**result, "output": str(out)})


@ranker_cli.command("train", context_settings=CONFIG_CONTEXT)
def ranker_train(
    ctx: typer.Context,
    config: Annotated[Path, argument("CONFIG", "A config with a [ranker] section.")],
    output: NewTraining,
    gpu_id: GpuId = -1,
    resume: Resume = False,
) -> None:
    """Train a ranker on the candidates that a pipeline finds.

    Override settings with --section.key VALUE. Writes FOLDER/model-best, model-last, metrics.jsonl, steps.jsonl,
    a checkpoint and the candidates.

    Example: spacy-pel ranker train configs/ranker_minilm.cfg --output training/ranker --ranker.training.limit 2000
    """
    from ...pipeline.gold import query_maker
    from ..ranker.loop import RankTrainer
    from ..ranker.settings import read_rank_settings

    settings = read_rank_settings(config, parse_overrides(ctx.args))
    nlp, name, component = load_pipeline(settings.paths.required("pipeline"))
    trainer = RankTrainer(settings, output, linker=component.linker, queries=query_maker(nlp, name=name), gpu_id=gpu_id)
    best = trainer.run(resume=resume)
    _emit_best(best, output)


@ranker_cli.command("add")
def ranker_add(
    pipeline: Pipeline,
    model: Annotated[Path, argument("MODEL", "The ranker, e.g. training/ranker/model-best.")],
    out: NewPipeline,
    top_k: Annotated[int, option("N", "Number of candidates to rerank.", min=1)] = 16,
    mix: Annotated[float | None, option("NUMBER", "Weight of the combiner's score. Default: fitted.", min=0.0)] = None,
    backend: Backend = None,
) -> None:
    """Write a copy of a pipeline whose linker reranks its best candidates.

    Until you calibrate the copy, it has no NIL threshold and no calibrated P(right): those of the pipeline were
    fitted on other scores.

    Example: spacy-pel ranker add training/pipeline training/ranker/model-best training/pipeline_ranked
    """
    from ...linking.reranker import load_ranker
    from ...registry import registry

    ranker: Any = load_ranker(model)
    settings: dict[str, Any] = {"top_k": top_k, "mix": mix}
    if backend:
        registry.resolve_short("pel_backends", backend)
        settings["backend"] = {"@pel_backends": registry.parts("pel_backends").get(backend, backend)}
    with changed_copy(pipeline, out) as copy:
        copy.settings["reranker"] = {"@pel_rankers": ranker.registered_name, **settings}
        copy.loaders.pop("reranker_loader", None)
        shutil.rmtree(copy.folder / "reranker", ignore_errors=True)
        ranker.to_disk(copy.folder / "reranker")
        copy.uncalibrate("nil_model")
        copy.learned["reranker"] = {"kind": type(ranker).__name__, "state": {}}
    result = {"pipeline": str(out), "ranker_fingerprint": ranker.fingerprint, **settings}
    emit(result)


def parse_overrides(args: list[str]) -> dict[str, Any]:
    """Read the overrides among a command's extra arguments (``ctx.args``).

    Args:
        args: e.g. ["--pel.training.max_epochs", "2", "--system.seed=1"]; values are
            parsed as JSON, or kept as text if they are not JSON.

    Returns:
        e.g. {"pel.training.max_epochs": 2, "system.seed": 1}.

    Raises:
        PelError: for an argument that does not have this form.
    """
    overrides: dict[str, Any] = {}
    rest = list(args)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("--") or "." not in name:
            raise PelError(Errors.E600.format(got=name))
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise PelError(Errors.E600.format(got=f"{name} without a value"))
            value = rest.pop(0)
        overrides[name[2:].replace("-", "_")] = json_or_text(value)
    return overrides


def _emit_best(best: dict[str, Any], output: Path) -> None:
    """Print the metrics of a training's best model, where it is, and where the learning curve is.

    Args:
        best: metrics on dev.
        output: the folder of the training.
    """
    places = {"model": str(output / "model-best")}
    if (curve := output / "learning_curve.png").is_file():
        places["learning_curve"] = str(curve)
    emit({"best": best, **places}, lambda _: key_values({**places, **best}))


def open_bi_encoder(path: Path) -> Any:
    """Open a bi-encoder.

    Args:
        path: its folder, that of a ranker made of one, or that of a pipeline.

    Returns:
        With weights.

    Raises:
        PelError: if there is none.
    """
    from ...encoders.bi_encoder import BiEncoder
    from ...encoders.pretrained import load_encoder
    from ...linking.reranker import load_ranker

    of_ranker = (path / "ranker.json").is_file()
    encoder: Any = getattr(load_ranker(path), "encoder", None) if of_ranker else load_encoder(encoder_folder(path))
    if not isinstance(encoder, BiEncoder):
        raise PelError(Errors.E653.format(path=path, got="it holds another type of model"))
    return encoder


class PipelineCopy(NamedTuple):
    """A copy of a saved pipeline that is being changed.

    Attributes:
        folder: of the component that links.
        settings: of the component, in the config.
        loaders: what ``nlp.initialize`` loads for it, in the config.
        learned: its calibration; see ``learned_state``.
    """

    folder: Path
    settings: dict[str, Any]
    loaders: dict[str, Any]
    learned: dict[str, Any]

    def uncalibrate(self, *parts: str) -> None:
        """Forget the NIL thresholds, the calibration of P(right), and what these parts have learned.

        Args:
            parts: keys of ``learned``; those that are not there are left out.
        """
        for name in ("confidence", "in_context"):
            self.learned.pop(name, None)
        self.learned["calibrated_threshold"] = None
        for name in self.learned.keys() & parts:
            self.learned[name]["state"] = {}
        if "combiner" in parts:  # which weighs them
            self.learned.pop("label_types", None)


@contextmanager
def changed_copy(pipeline: Path, output: Path) -> Iterator[PipelineCopy]:
    """Write a changed copy of a saved pipeline. It is loaded once, so that an unusable copy is never written.

    Args:
        pipeline: a saved pipeline.
        output: the folder to write.

    Yields:
        To be changed in place.

    Raises:
        PelError: if it is not a pipeline with a linker, or the copy cannot be loaded.
    """
    from thinc.api import Config

    from ...pipeline.linker_data import CALIBRATION, update_linker_folder

    learned = read_learned(pipeline)
    name = learned_path(pipeline).parent.name
    with atomic_path(output) as part, locked(pipeline):  # nobody replaces the linker's folder meanwhile
        shutil.copytree(pipeline, part)
        config = Config().from_disk(part / "config.cfg", interpolate=False)
        loaders = config.get("initialize", {}).get("components", {}).get(name, {})
        with update_linker_folder(part / name) as linker:
            copy = PipelineCopy(linker, config["components"][name], loaders, learned)
            yield copy
            write_json(linker / CALIBRATION, copy.learned, indent=None)
        config.to_disk(part / "config.cfg")
        load_pipeline(part)
    message(f"Wrote {output}. Calibrate it now: spacy-pel calibrate {output} CORPUS.jsonl")

"""The command ``debug``: check a config and its data without training."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from ...cli._app import CODE, command_group
from ...cli._options import argument
from ...cli._output import emit
from ...errors import Errors, PelError, did_you_mean
from ...types import Document
from ...util.config import load_config
from ...util.files import unexpected
from .train import CONFIG_CONTEXT, parse_overrides

_FACTS = ("documents", "mentions", "nil", "in_kb", "share_in_kb", "entities")
debug_cli = command_group("debug", "Check a config and its data.", panel="Train")


@debug_cli.command("debug", rich_help_panel="Train", context_settings=CONFIG_CONTEXT)
def debug(
    ctx: typer.Context,
    config: Annotated[Path, argument("CONFIG", "A config of a training, with a [pel] or a [ranker] section.")],
) -> None:
    """Check a config, its data and the coverage of the KB, without training anything.

    Override settings with --section.key VALUE.

    Example: spacy-pel debug configs/tiny.cfg --paths.train corpus/train.jsonl
    """
    overrides = parse_overrides(ctx.args)
    settings = load_config(config, overrides)
    check = {"pel": _debug_training, "ranker": _debug_ranker}
    section = next((name for name in check if name in settings), None)
    if section is None:
        of_pipeline = "; `spacy assemble` checks the config of a pipeline" if "components" in settings else ""
        hint = of_pipeline or next(filter(None, (did_you_mean(name, check) for name in settings)), "")
        raise PelError(Errors.E601.format(path=config, got=f"it has no [pel] or [ranker] section{hint}"))
    result = check[section](config, overrides)
    command = ["train"] if section == "pel" else ["ranker", "train"]
    code = [word for path in ctx.meta[CODE] for word in (CODE, path)]
    result["next"] = shlex.join(["spacy-pel", *command, str(config), "--output", "DIR", *code, *ctx.args])
    emit(result)


def _debug_training(config: Path, overrides: dict[str, Any]) -> dict[str, Any]:
    from ...corpora import read_corpus, read_gold
    from ..corpora.corpus_facts import corpus_facts
    from ..retriever.examples import linked_mentions
    from ..retriever.loop import Trainer
    from ..retriever.settings import read_settings

    settings = read_settings(config, overrides)
    trainer, pel, paths = Trainer(settings, Path()), settings.pel, settings.paths  # it writes when it runs
    trainer.load_data()
    pel.encoder.initialize()
    kb, training = trainer.kb, pel.training
    result: dict[str, Any] = {"kb.entities": len(kb), "kb.fingerprint": kb.fingerprint}
    documents: dict[str, list[Document]] = {}
    for name, path, read in (("train", paths.train, read_corpus), ("dev", paths.dev, read_gold)):
        if path is not None:
            documents[name] = list(read(path))
            facts = corpus_facts(documents[name], kb)
            result |= {f"{name}.{key}": facts[key] for key in _FACTS}
    mentions = linked_mentions(kb, documents["train"])[: training.limit or None]
    examples = round(len(mentions) / (1 - pel.positives.alias_share))  # with names without context
    parts = {name: getattr(pel, name) for name in ("encoder", "loss", "negatives", "regularizer", "mixing")}
    parts["similarity"] = pel.encoder.similarity
    result["parts"] = {name: type(part).__name__ for name, part in parts.items() if part is not None}
    updates = training.n_updates(-(-examples // training.batch_size))
    # and one before the first update
    evaluations = 1 - (-updates // training.evaluate_every(updates))
    return {**result, "examples_per_epoch": examples, "updates": updates, "evaluations": evaluations}


def _debug_ranker(config: Path, overrides: dict[str, Any]) -> dict[str, Any]:
    from ...corpora import read_corpus, read_gold
    from ..ranker.settings import read_rank_settings, recipe_of

    settings = read_rank_settings(config, overrides)
    ranker, paths, training = settings.ranker.model, settings.paths, settings.ranker.training
    recipe = recipe_of(ranker, settings.ranker)
    if not (pipeline := paths.required("pipeline")).is_dir():
        raise unexpected(pipeline, "a pipeline", "no such folder", "Check paths.pipeline.")
    result: dict[str, Any] = {}
    for name, read in (("train", read_corpus), ("dev", read_gold)):
        counts = [len(document.mentions) for document in read(paths.required(name))]
        result |= {f"{name}.documents": len(counts), f"{name}.mentions": sum(counts)}
    ranker.initialize()
    parts = {"model": ranker, **{type(part).__name__: part for part in recipe.parts}}
    result["parts"] = {name: type(part).__name__ for name, part in parts.items()}
    return {**result, "batch_size": training.batch_size, "max_epochs": training.max_epochs}

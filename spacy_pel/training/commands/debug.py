"""The command ``debug``: check a config and its data without training."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from ...cli._app import CODE, CONFIG_CONTEXT, command_group
from ...cli._options import argument
from ...cli._output import JSON, emit, key_values
from ...cli._settings import parse_overrides
from ...errors import Errors, PelError, did_you_mean
from ...types import Document
from ...util.config import load_config
from ...util.files import unexpected

debug_cli = command_group("debug", "Check a config and its data.", panel="Train")


@debug_cli.command("debug", rich_help_panel="Train", context_settings=CONFIG_CONTEXT)
def debug(
    ctx: typer.Context,
    config: Annotated[Path, argument("CONFIG", "A config of a training, with a [pel] or a [ranker] section.")],
    as_json: bool = JSON,
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
    emit(result, as_json=as_json, text=key_values)


def _debug_training(config: Path, overrides: dict[str, Any]) -> dict[str, Any]:
    from ...corpora import read_corpus, read_gold
    from ...kb import KnowledgeBase
    from ...kb.compare import prefix_hint
    from ..retriever.miner import check_depth
    from ..retriever.settings import read_settings

    settings = read_settings(config, overrides)
    settings.check_paths()
    kb = KnowledgeBase.from_disk(str(settings.paths.kb))
    if not len(kb):
        raise PelError(Errors.E670.format(path=settings.paths.kb))
    result: dict[str, Any] = {"kb.entities": len(kb), "kb.fingerprint": kb.fingerprint}
    seen: set[str] = set()
    names_only = settings.pel.names_only
    for name, read in (("train", read_corpus), ("dev", read_gold)):
        if names_only and (name == "train" or settings.paths.dev is None):
            continue
        facts = coverage(kb, read(getattr(settings.paths, name)), seen_before=seen or None)
        example = facts.pop("outside")
        if not facts["in_kb"]:
            path, hint = getattr(settings.paths, name), prefix_hint(kb, example)
            raise PelError(Errors.E671.format(path=path, kb=settings.paths.kb, hint=hint))
        seen |= facts.pop("ids")
        result.update({f"{name}.{key}": value for key, value in facts.items()})
    if check := getattr(settings.pel.encoder, "check_weights", None):  # an encoder without pretraining has none
        check()
    training = settings.pel.training
    if names_only:
        n_names = [len({entity.canonical_name, *entity.aliases}) for entity in kb.entities()]
        examples = sum(n for n in n_names if n > 1)  # before some are held out
    else:
        mentions = min(result["train.in_kb"], training.limit or result["train.in_kb"])
        examples = round(mentions / (1 - settings.pel.positives.alias_share))  # with names without context
    batches = -(-examples // training.batch_size)
    updates = training.max_epochs * max(1, batches // training.accumulate_gradient)
    parts = {name: getattr(settings.pel, name) for name in ("encoder", "loss", "negatives", "regularizer", "mixing")}
    parts["similarity"] = settings.pel.encoder.similarity
    sampler = settings.pel.negatives
    if sampler.mined_depth and settings.paths.negatives is None:
        check_depth(sampler.mined_depth, len(kb), training.mining.depth or sampler.mined_depth)
    result["parts"] = {name: type(part).__name__ for name, part in parts.items() if part is not None}
    result["examples_per_epoch"] = examples
    result["updates"] = min(updates, training.max_steps or updates)
    # and one before the first update
    result["evaluations"] = 1 - (-result["updates"] // training.evaluate_every(result["updates"]))
    return result


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
        documents = list(read(paths.required(name)))
        result |= {f"{name}.documents": len(documents), f"{name}.mentions": sum(len(one.mentions) for one in documents)}
    if check := getattr(ranker, "check_weights", None):
        check()
    parts = {"model": ranker, **{type(part).__name__: part for part in recipe.parts}}
    result["parts"] = {name: type(part).__name__ for name, part in parts.items()}
    result["batch_size"], result["max_epochs"] = training.batch_size, training.max_epochs
    return result


def coverage(kb: Any, documents: Iterable[Document], *, seen_before: set[str] | None) -> dict[str, Any]:
    """Count how much of a corpus a KB covers.

    Args:
        kb: resolves the ids.
        documents: the corpus; reading it verifies the offsets.
        seen_before: live ids of the training corpus.

    Returns:
        "documents", "mentions", "in_kb", "nil", "share_in_kb",
        "entities", with ``seen_before`` also "share_seen", "ids": the live gold ids, and "outside": an id that
        the KB lacks, "" if there is none.
    """
    counts = {"documents": 0, "mentions": 0, "in_kb": 0, "nil": 0}
    ids: set[str] = set()
    n_seen, outside = 0, ""
    for document in documents:
        counts["documents"] += 1
        counts["mentions"] += len(document.mentions)
        for mention in document.mentions:
            live = {kb.resolve(entity_id) for entity_id in mention.ids} - {None}
            counts["in_kb" if live else "nil"] += 1
            n_seen += not live.isdisjoint(seen_before or ())
            ids |= live
            outside = outside or ("" if live else next(iter(mention.ids), ""))
    share = counts["in_kb"] / max(1, counts["mentions"])
    facts: dict[str, Any] = {**counts, "entities": len(ids), "ids": ids, "outside": outside, "share_in_kb": share}
    return facts if seen_before is None else {**facts, "share_seen": n_seen / max(1, counts["in_kb"])}

"""From a config with a [study] section to the list of its trainings."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spacy_pel.errors import PelError
from spacy_pel.training.retriever.dev import FIRST_STAGE
from spacy_pel.util import fingerprint
from spacy_pel.util.config import load_config

from ..errors import StudyErrors

Tree = dict[str, Any]
_SECTIONS = ("ranker", "pel")
# settings of [study] for retrieval, which a study of rankers leaves to its pipeline
_OF_RETRIEVAL = ("kb", "kinds", "top_k", "first_stage", "n_dev", "worlds", "paper", "claims")
# settings of [study] that a study over worlds takes from the worlds
_OF_ONE_CORPUS = ("test", "kb")

# sections of [study] -> keys down to a level or run
_NAMED = {"corpora": 3, "factors": 4, "cells": 3, "extra": 3, "paper": 3, "claims": 3}


class ExtraRun(BaseModel):
    """``[study.extra.NAME]``: a training outside the matrix."""

    model_config = ConfigDict(extra="forbid")
    like: dict[str, str] = Field(title="Factor -> level that it starts from")
    label: str = Field(title="Its name in tables and plots")
    pel: Tree = Field(default={}, title="What is different, as in [pel]")
    ranker: Tree = Field(default={}, title="What is different, as in [ranker]")


class CellChange(BaseModel):
    """``[study.cells.NAME]``: settings of particular combinations of levels."""

    model_config = ConfigDict(extra="forbid")
    at: dict[str, str] = Field(title="Factor -> level; runs that have all of these")
    pel: Tree = Field(default={}, title="What is different, as in [pel]")
    ranker: Tree = Field(default={}, title="What is different, as in [ranker]")


class ClaimSettings(BaseModel):
    """``[study.claims.NAME]``: one weighted sum of runs is better than another."""

    model_config = ConfigDict(extra="forbid")
    text: str = Field(title="The claim")
    metric: Literal["recall@1", "recall@64", "nil_aupr"] = Field(default="recall@1", title="Better at what")
    better: dict[str, float] = Field(min_length=1, title="Label -> weight, of the side that is to be better")
    than: dict[str, float] = Field(min_length=1, title="Label -> weight, of the other side")


class PaperRun(BaseModel):
    """``[study.paper.NAME]``: the paper's results, shown next to ours."""

    model_config = ConfigDict(extra="forbid")
    label: str = Field(title="Of our run")
    metrics: dict[Literal["recall@1", "recall@64", "nil_aupr", "val_recall@1", "val_recall@64"], float] = Field(
        title="In percent"
    )


class StudyWorlds(BaseModel):
    """``[study.worlds]``: train on some worlds (ontologies, wikis), measure on others."""

    model_config = ConfigDict(extra="forbid")
    folder: Path = Field(title="Has a folder for each world: kb, and train, dev, test.jsonl")
    train: list[str] = Field(min_length=1, title="Worlds to train on; their dev.jsonl chooses the best model")
    val: list[str] = Field(default=[], title="Unseen worlds of validation")
    test: list[str] = Field(min_length=1, title="Unseen worlds of the test; claims are about these")
    split: str = Field(default="test", title="Which split of the unseen worlds is measured")


class StudySettings(BaseModel):
    """``[study]``"""

    model_config = ConfigDict(extra="forbid")
    test: Path | None = Field(default=None, title="Test corpus (JSON lines)")
    corpora: dict[str, Tree] = Field(default={}, title="Corpus -> what it changes in [paths] and [study]")
    worlds: StudyWorlds | None = Field(default=None, title="Unseen worlds, instead of a test corpus")
    kb: Path | None = Field(default=None, title="Knowledge base of the evaluation; default: paths.kb")
    kinds: list[str] = Field(default=["card"], title="Rows of the index of the evaluation")
    top_k: int = Field(default=64, ge=1, title="Candidates of a mention")
    first_stage: int = Field(
        default=FIRST_STAGE, ge=1, title="Entities fetched where a similarity of tokens orders them"
    )
    seeds: list[int] = Field(default=[0], min_length=1, title="Each training is repeated with these")
    n_dev: int = Field(default=0, ge=0, title="Documents of dev for the NIL threshold; 0 = all")
    n_test: int = Field(default=0, ge=0, title="Documents of test, of each unseen world; 0 = all")
    factors: dict[str, dict[str, Tree]] = Field(
        title="Factor -> level -> what it changes in [pel] or [ranker]; every combination is trained"
    )
    cells: dict[str, CellChange] = Field(default={}, title="Changes of some combinations")
    extra: dict[str, ExtraRun] = Field(default={}, title="Trainings outside the matrix")
    paper: dict[str, PaperRun] = Field(default={}, title="Results of the paper for the same runs")
    paper_size: str = Field(default="", title="Encoder, updates and knowledge base of the paper, shown below the table")
    claims: dict[str, ClaimSettings] = Field(default={}, title="What the paper says of its runs")

    @property
    def corpus(self) -> Path:
        """The test corpus of a study without worlds."""
        assert self.test is not None  # see plan_study
        return self.test


@dataclass
class StudyRun:
    """One training.

    name: its folder.
    label: its name in tables and plots, the same for all seeds.
    levels: factor -> level; empty for an extra run.
    seed: random seed.
    config: a complete training config.
    """

    name: str
    label: str
    levels: dict[str, str]
    seed: int
    config: Tree

    @property
    def of_ranker(self) -> bool:
        """Whether a ranker is trained, and not an encoder."""
        return "ranker" in self.config

    @property
    def fingerprint(self) -> str:
        """Changes with every setting."""
        return fingerprint(repr(sorted(_flat(self.config).items())))


def plan_corpora(path: Path, overrides: Tree | None = None) -> "dict[str, tuple[StudySettings, list[StudyRun]]]":
    """Read a study config whose trainings may be repeated on several corpora.

    Args:
        path, overrides: as for ``plan_study``.

    Returns:
        The study of each corpus of [study.corpora], by name; without this section one study, under "".

    Raises:
        PelError: if the section is missing or wrong.
    """
    corpora = load_config(path, overrides or {}).get("study", {}).get("corpora") or {}
    for name in overrides or {}:
        if corpora and all(at(changes, name.split(".")) is not None for changes in corpora.values()):
            problem = f"--{name} reaches no corpus, since all of [study.corpora] set it. Override it there"
            raise PelError(StudyErrors.E677.format(path=path, got=problem))
    return {name: plan_study(path, overrides, corpus=name) for name in corpora or [""]}


def plan_study(
    path: Path, overrides: Tree | None = None, *, corpus: str = ""
) -> "tuple[StudySettings, list[StudyRun]]":
    """Read a study config.

    Args:
        path: a training config with a [study] section.
        overrides: dotted names to values.
        corpus: one of [study.corpora]; "" = the config's own.

    Returns:
        The settings, and the trainings: the matrix of all levels for each seed, then
        the extra ones.

    Raises:
        PelError: if the section is missing or wrong.
    """
    config = load_config(path, overrides or {})
    if "study" not in config:
        raise PelError(StudyErrors.E677.format(path=path, got="it has no [study] section"))
    if corpus:
        config = merged(config, config["study"]["corpora"][corpus])
    section = next((name for name in _SECTIONS if name in config), None)
    if section is None:
        raise PelError(StudyErrors.E677.format(path=path, got="it has neither a [pel] section nor a [ranker] section"))
    useless = [f"study.{name}" for name in _OF_RETRIEVAL if section == "ranker" and name in config["study"]]
    if useless:
        problem = f"{', '.join(useless)} do not apply to a study of rankers"
        raise PelError(StudyErrors.E677.format(path=path, got=problem))
    _check_names(overrides or {}, path)
    base: Tree = {name: copy.deepcopy(dict(section)) for name, section in config.items() if name != "study"}
    try:
        study = StudySettings(**config["study"])
    except ValidationError as err:
        problems = [f"study.{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in err.errors()]
        raise PelError(StudyErrors.E677.format(path=path, got="; ".join(problems))) from err
    _check_test(study, path)
    for name, cell in study.cells.items():
        _check_levels(study, cell.at, f"study.cells.{name}.at", path)
    runs = [
        _run(base, section, study, dict(zip(study.factors, levels, strict=True)), seed)
        for levels in product(*study.factors.values())
        for seed in study.seeds
    ]
    for name, extra in study.extra.items():
        every = {factor: extra.like.get(factor, "") for factor in {**study.factors, **extra.like}}
        _check_levels(study, every, f"study.extra.{name}.like", path)
        runs += [_run(base, section, study, extra.like, seed, name=name, extra=extra) for seed in study.seeds]
    _check_labels(study, {run.label for run in runs}, path)
    _check_overrides(overrides or {}, section, runs, path)
    return study, runs


def select_runs(runs: Sequence[StudyRun], only: Sequence[str], path: Path) -> list[StudyRun]:
    """Those whose label matches one of the patterns, in the order of the study.

    Args:
        only: labels; "*", "?" and "[...]" as in file names.
        path: of the study, for errors.

    Raises:
        PelError: if a pattern matches no label.
    """
    labels = list(dict.fromkeys(run.label for run in runs))
    for pattern in only:
        if not any(fnmatchcase(label, pattern) for label in labels):
            raise PelError(StudyErrors.E691.format(path=path, pattern=pattern, labels=", ".join(labels)))
    return [run for run in runs if any(fnmatchcase(run.label, pattern) for pattern in only)]


def _run(
    base: Tree,
    section: str,
    study: StudySettings,
    levels: dict[str, str],
    seed: int,
    *,
    name: str = "",
    extra: ExtraRun | None = None,
) -> StudyRun:
    config = copy.deepcopy(base)
    for factor, level in levels.items():
        config[section] = merged(config[section], study.factors[factor][level])
    for cell in study.cells.values():
        if all(levels.get(factor) == level for factor, level in cell.at.items()):
            config[section] = merged(config[section], getattr(cell, section))
    if extra is not None:
        config[section] = merged(config[section], getattr(extra, section))
    config.setdefault("system", {})["seed"] = seed
    folder = name or "-".join(levels.values()).replace(" ", "_")
    label = extra.label if extra else " ".join(levels.values())
    return StudyRun(f"{folder}/seed{seed}", label, {} if extra else dict(levels), seed, config)


def _check_test(study: StudySettings, path: Path) -> None:
    """Raises:
    PelError: if there is neither a test corpus nor worlds, or both, or a world is named twice.
    """
    if study.worlds is None:
        if study.test is None:
            problem = "expected study.test or [study.worlds], got neither"
            raise PelError(StudyErrors.E677.format(path=path, got=problem))
        return
    conflicting = [f"study.{name}" for name in _OF_ONE_CORPUS if getattr(study, name)]
    if conflicting:
        problem = f"{', '.join(conflicting)} and [study.worlds] exclude each other"
        raise PelError(StudyErrors.E677.format(path=path, got=problem))
    names = [*study.worlds.train, *study.worlds.val, *study.worlds.test]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        problem = f"study.worlds names {', '.join(repeated)} more than once"
        raise PelError(StudyErrors.E677.format(path=path, got=problem))


def _check_levels(study: StudySettings, levels: Mapping[str, str], name: str, path: Path) -> None:
    for factor, level in levels.items():
        if level not in study.factors.get(factor, {}):
            problem = f"{name} names no level of '{factor}'"
            raise PelError(StudyErrors.E677.format(path=path, got=problem))


def _check_labels(study: StudySettings, known: set[str], path: Path) -> None:
    """A mistyped label would silently drop a claim or a result of the paper."""
    named = [(f"study.paper.{name}.label", run.label) for name, run in study.paper.items()]
    for name, claim in study.claims.items():
        named += [(f"study.claims.{name}", label) for label in (*claim.better, *claim.than)]
    for where, label in named:
        if label not in known:
            problem = f"{where} names '{label}', which is the label of no run"
            raise PelError(StudyErrors.E677.format(path=path, got=problem))


def _check_names(overrides: Tree, path: Path) -> None:
    """A mistyped level or run would silently be a new one."""
    known = load_config(path)
    for name in overrides:
        keys = name.split(".")
        depth = _NAMED.get(keys[1], len(keys)) if keys[0] == "study" else len(keys)
        if len(keys) > depth and at(known, keys[:depth]) is None:
            problem = f"--{name} changes [{'.'.join(keys[:depth])}], which it does not have"
            raise PelError(StudyErrors.E677.format(path=path, got=problem))


def _check_overrides(overrides: Tree, section: str, runs: list[StudyRun], path: Path) -> None:
    """An override of a part that every level replaces would silently change nothing."""
    for name, value in overrides.items():
        if name.startswith(f"{section}.") and not any(at(run.config, name.split(".")) == value for run in runs):
            problem = f"--{name} reaches no run, since [study.factors] sets this part. Override it there"
            raise PelError(StudyErrors.E677.format(path=path, got=problem))


def at(tree: Any, keys: Sequence[str]) -> Any:
    """The value at these keys of a config; None = there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def merged(tree: Tree, change: Tree) -> Tree:
    """Merge a tree into another. A registered part ("@...") replaces the old one completely, since the
    settings of one part do not apply to another.

    Returns:
        A new tree.
    """
    result = copy.deepcopy(tree)
    for key, value in change.items():
        old = result.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and not any(k[0] == "@" for k in value):
            result[key] = merged(old, value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def _flat(tree: Tree, prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in tree.items():
        nested = isinstance(value, dict)
        flat.update(_flat(value, f"{prefix}{key}.") if nested else {f"{prefix}{key}": repr(value)})
    return flat

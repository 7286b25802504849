"""Kill commands at random times and look at what they leave.

    python -m benchmarks.kills --kills 50 --seed 0
    python -m benchmarks.kills --kills 200 --only index --only "kb add"

Each command works on tiny data (``assets/tiny``) over an older result. It runs in a forked child that has all
imports behind it, and gets SIGKILL at a random time of its run. Then its output must be the old state or
the new one, whole: every file agrees with its manifest, and it opens and answers. Commands that save their
work on the way (train, ranker train, link, serve --save) may also leave a part of the new state, whole. The
command is then run again (with --resume, where it has that) and must give the files of a run that
was not killed; and what the killed one left must be gone.
"""

import asyncio
import hashlib
import importlib
import json
import os
import pickle
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
TINY = ROOT / "assets" / "tiny"
_TEXT = "Fever and a cold after the operation; discharge of the wound, then a culture."
_MORE = [{"concept_id": f"NEW:{n}", "canonical_name": f"new finding {n}"} for n in range(3)]
_FIXED = ("Feve", "cold", "woun")  # the beginnings of mentions
ANSWERED = "answered.txt"
_LIMIT = 300.0  # seconds; a child that takes longer hangs
_VOLATILE = ("seconds", "examples_per_second", "mentions_per_second")  # measured times
_TIMES = ("build.json", "progress.json")  # files that hold them
HEAD = ("command", "run, s", "kills", "old", "part", "new", "broken", "leftovers", "removed", "resumed equal")
_OBO = ("--reader", "obo", TINY / "tiny.obo")
State = dict[str, str]  # file -> hash


@dataclass(frozen=True)
class Case:
    """A command to be killed.

    Attributes:
        prepare: folder -> writes the old state; the inputs are in ``folder / "base"``.
        run: folder, whether to resume -> does the work.
        output: name of the file or folder that is written, in the folder.
        opens: output -> opens it and uses it; raises an error if it is not whole.
        partial: whether it saves its work on the way.
        again: whether running it again on its own result gives the same.
    """

    prepare: Callable[[Path], None]
    run: Callable[[Path, bool], None]
    output: str
    opens: Callable[[Path], Any]
    partial: bool = False
    again: bool = True


@dataclass
class Outcome:
    """Counts of what was found after the kills of one command, and what was broken."""

    seconds: float = 0.0
    kills: int = 0
    old: int = 0
    part: int = 0
    new: int = 0
    broken: list[str] = field(default_factory=list)
    leftovers: int = 0
    removed: int = 0
    resumed: int = 0


# -- what is run -----------------------------------------------------------------------------------


def command(*args: Any) -> None:
    """Run a command of ``spacy-pel`` in this process. RAISES (RuntimeError): if it fails."""
    from typer.testing import CliRunner

    from spacy_pel.cli import pel_cli

    result = CliRunner().invoke(pel_cli, [str(arg) for arg in args])
    if result.exit_code:
        raise RuntimeError(f"{args[0]}: {result.stderr[-300:]}") from result.exception


def make_base(base: Path) -> None:
    """Write the inputs of all cases: a knowledge base, corpora, an encoder, an index, two pipelines."""
    import spacy

    from spacy_pel.encoders.pretrained import load_encoder
    from spacy_pel.index import EntityIndex
    from spacy_pel.kb import KnowledgeBase
    from spacy_pel.util import write_jsonl

    base.mkdir()
    command("kb", "merge", base / "kb", ROOT / "configs" / "tiny_kb.cfg", "--data", TINY)
    for name in ("train", "test"):
        command("convert", base / f"{name}.jsonl", "--reader", "st21pv", TINY / "medmentions" / f"st21pv_{name}.jsonl")
    write_jsonl(base / "changes.jsonl", _MORE)
    kb = KnowledgeBase.from_disk(base / "kb")
    write_jsonl(base / "few.jsonl", [kb[one].to_json() for one in kb.ids_at(kb.live_rows)[:9]])
    right = {"kb_id": kb.id_at(int(kb.live_rows[0]))}
    fixes = [{"text": _TEXT, "start": _TEXT.index(one), "end": _TEXT.index(one) + 4, **right} for one in _FIXED]
    write_jsonl(base / "fixes.jsonl", fixes)
    write_jsonl(base / "texts.jsonl", [{"id": str(n), "text": f"{_TEXT} {n}"} for n in range(200)])
    train(base, base / "encoder", False)
    command("index", base / "kb", base / "encoder" / "model-best", base / "index")
    encoder = load_encoder(base / "encoder" / "model-best")
    nlp = spacy.blank("en")
    names = [name for row in kb.live_rows for name in names_of(kb.entity_at(int(row)))]
    patterns: list[Any] = [{"label": "FINDING", "pattern": [{"LOWER": w} for w in n.lower().split()]} for n in names]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)  # type: ignore[attr-defined]
    linker: Any = nlp.add_pipe("proxy_entity_linker")
    linker.initialize(
        list,
        nlp=nlp,
        kb_loader=lambda: KnowledgeBase.from_disk(base / "kb"),
        encoder_loader=lambda _: encoder,
        index_loader=lambda kb, encoder: EntityIndex.from_disk(base / "index", kb=kb, encoder=encoder),
    )
    nlp.to_disk(base / "pipeline")
    command("calibrate", base / "pipeline", base / "train.jsonl")


def names_of(entity: Any) -> list[str]:
    """The canonical name and the aliases."""
    return [entity.canonical_name, *entity.aliases]


def train(base: Path, output: Path, resume: bool) -> None:
    """Train a bi-encoder for 20 updates with 4 checkpoints."""
    paths = {"kb": base / "kb", "train": base / "train.jsonl", "dev": base / "test.jsonl"}
    settings = [part for name, path in paths.items() for part in (f"--paths.{name}", path)]
    settings += ["--pel.training.max_steps", 20, "--pel.training.eval_frequency", 5]
    config = ROOT / "configs" / "tiny.cfg"
    command("train", config, "--output", output, *settings, *(["--resume"] if resume else []))


def train_ranker(base: Path, output: Path, resume: bool) -> None:
    """Train a cross-encoder for 20 updates with 4 checkpoints."""
    paths = {"pipeline": base / "pipeline", "train": base / "train.jsonl", "dev": base / "test.jsonl"}
    settings = [part for name, path in paths.items() for part in (f"--paths.{name}", path)]
    settings += ["--ranker.training.eval_frequency", 5]
    config = ROOT / "configs" / "ranker_tiny.cfg"
    command("ranker", "train", config, "--output", output, *settings, *(["--resume"] if resume else []))


def save_pipeline(folder: Path, resume: bool) -> None:
    """Change a pipeline and save it over itself with ``nlp.to_disk``."""
    import spacy

    from spacy_pel.types import Entity

    nlp = spacy.load(folder / "pipeline")
    linker: Any = nlp.get_pipe("proxy_entity_linker")
    linker.add_entities([Entity(str(one["concept_id"]), str(one["canonical_name"])) for one in _MORE])
    nlp.to_disk(folder / "pipeline")


def teach(folder: Path, resume: bool) -> None:
    """Teach a pipeline some corrections, all at the same time of day."""
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    command("teach", folder / "pipeline", folder / "base" / "fixes.jsonl")


def serve(folder: Path, resume: bool) -> None:
    """Teach a pipeline the same through the API of a server that saves: one request for each. What was
    answered is noted."""
    import httpx

    from spacy_pel.pipeline.saved import load_pipeline
    from spacy_pel.serving import Limits, Service, make_app
    from spacy_pel.util import read_jsonl

    os.environ["SOURCE_DATE_EPOCH"] = "0"
    nlp, name, _ = load_pipeline(folder / "pipeline")
    service = Service(nlp, name, title="", folder=folder / "pipeline" / name)
    app = make_app(service, limits=Limits(), host="127.0.0.1")

    async def correct() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for one in read_jsonl(folder / "base" / "fixes.jsonl"):
                (await client.post("/learn", json={"corrections": [one]})).raise_for_status()
                with (folder / ANSWERED).open("a", encoding="utf8") as answered:
                    print(one["start"], file=answered)

    asyncio.run(correct())


def open_served(path: Path) -> None:
    """Link a text; what was answered is learned."""
    component = open_pipeline(path)
    noted = path.parent / ANSWERED
    answered = {*noted.read_text(encoding="utf8").split()} if noted.exists() else set()
    learned = {str(one.start) for one in component.learned}
    assert answered <= learned, f"answered: {sorted(answered)}, learned: {sorted(learned)}"


def open_kb(path: Path) -> None:
    """Look up all entities."""
    from spacy_pel.kb import KnowledgeBase

    kb = KnowledgeBase.from_disk(path)
    assert all(kb.entity_at(int(row)).canonical_name for row in kb.live_rows)


def open_index(path: Path) -> None:
    """Search it."""
    from spacy_pel.encoders.pretrained import load_encoder
    from spacy_pel.index import EntityIndex

    encoder = load_encoder(path.parent / "base" / "encoder" / "model-best")
    index = EntityIndex.from_disk(path, encoder=encoder)
    scores, rows = index.search_entities(encoder.encode_names(["fever"]), 3)
    assert (rows >= 0).any()


def open_training(path: Path) -> None:
    """Load each model that is there."""
    from spacy_pel.encoders.pretrained import load_encoder
    from spacy_pel.linking.reranker import load_ranker
    from spacy_pel.util import read_jsonl

    for name in ("model-best", "model-last"):
        if (path / name).exists():
            (load_encoder if (path / name / "encoder.json").is_file() else load_ranker)(path / name)
    for file in ("metrics.jsonl", "steps.jsonl"):
        if (path / file).exists():
            list(read_jsonl(path / file))


def open_pipeline(path: Path) -> Any:
    """Link a text. RETURNS (ProxyEntityLinker): the component."""
    from spacy_pel.pipeline.saved import load_pipeline

    nlp, _, component = load_pipeline(path)
    doc = nlp(_TEXT)
    assert doc.ents and all(ent.kb_id_ for ent in doc.ents)
    return component


def open_generator(path: Path) -> None:
    """Load it for its knowledge base."""
    from spacy_pel.kb import KnowledgeBase
    from spacy_pel.training.recall import load_generator

    load_generator(path, kb=KnowledgeBase.from_disk(path.parent / "base" / "kb"))


def open_lines(path: Path) -> None:
    """Read it."""
    from spacy_pel.util import read_jsonl

    assert not path.exists() or len(list(read_jsonl(path))) == 200


def _copied(name: str) -> Callable[[Path], None]:
    return lambda folder: shutil.copytree(folder / "base" / name, folder / name) and None


def _nothing(folder: Path) -> None:
    """There is no old state."""


CASES: dict[str, Case] = {
    "kb build": Case(
        lambda folder: command("kb", "build", folder / "kb", "--reader", "jsonl", folder / "base" / "few.jsonl"),
        lambda folder, _: command("kb", "build", folder / "kb", *_OBO),
        "kb",
        open_kb,
    ),
    "kb add": Case(
        _copied("kb"),
        lambda folder, _: command("kb", "add", folder / "kb", folder / "base" / "changes.jsonl"),
        "kb",
        open_kb,
        again=False,
    ),
    "kb add (pipeline)": Case(
        _copied("pipeline"),
        lambda folder, _: command("kb", "add", folder / "pipeline", folder / "base" / "changes.jsonl"),
        "pipeline",
        open_pipeline,
        again=False,
    ),
    "index": Case(
        _copied("index"),
        lambda folder, _: command(
            *("index", folder / "base" / "kb", folder / "base" / "encoder" / "model-best", folder / "index"),
            *("--kinds", "card,alias,mention", "--mentions", folder / "base" / "train.jsonl"),
            *("--codes", "int8"),
        ),
        "index",
        open_index,
    ),
    "train": Case(
        _nothing,
        lambda folder, resume: train(folder / "base", folder / "run", resume),
        "run",
        open_training,
        partial=True,
    ),
    "ranker train": Case(
        _nothing,
        lambda folder, resume: train_ranker(folder / "base", folder / "run", resume),
        "run",
        open_training,
        partial=True,
    ),
    "link": Case(
        _nothing,
        lambda folder, resume: command(
            *("link", folder / "base" / "pipeline", folder / "base" / "texts.jsonl", folder / "out.jsonl"),
            *("--overwrite", "--part-size", 20, "--batch-size", 10),
            *(["--resume"] if resume else []),
        ),
        "out.jsonl",
        open_lines,
    ),
    "calibrate": Case(
        _copied("pipeline"),
        lambda folder, _: command(
            "calibrate", folder / "pipeline", folder / "base" / "train.jsonl", "--precision", 0.9
        ),
        "pipeline",
        open_pipeline,
        again=False,
    ),
    "candidates build": Case(
        lambda folder: command("candidates", "build", folder / "base" / "kb", folder / "tfidf", *_TFIDF_OLD),
        lambda folder, _: command("candidates", "build", folder / "base" / "kb", folder / "tfidf", *_TFIDF),
        "tfidf",
        open_generator,
    ),
    "serve --save": Case(_copied("pipeline"), serve, "pipeline", open_served, partial=True),
    "teach": Case(_copied("pipeline"), teach, "pipeline", open_pipeline, again=False),
    "nlp.to_disk": Case(_copied("pipeline"), save_pipeline, "pipeline", open_pipeline, again=False),
}
_TFIDF = ("--generator", "tfidf")
_TFIDF_OLD = (*_TFIDF, "--set", "word_ngrams=null")


# -- children --------------------------------------------------------------------------------------


def in_child(work: Callable[[], Any], *, kill_after: float | None = None) -> tuple[Any, float]:
    """Do something in a forked process, so that this one stays as it is.

    Args:
        work: what to do.
        kill_after: seconds until the child gets SIGKILL; None = never.

    Returns:
        What ``work`` returned, or None if it was killed; and the seconds it took.

    Raises:
        RuntimeError: if ``work`` fails, or hangs.
    """
    reading, writing = os.pipe()
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        code = 0
        try:
            result: Any = (True, work())
        except BaseException as err:  # the parent raises it
            result, code = (False, f"{type(err).__name__}: {err}"), 1
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(code)
    os.close(writing)
    end = started + (_LIMIT if kill_after is None else kill_after)
    data = b""
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, end - time.perf_counter()))[0]:
            if not (piece := pipe.read(1 << 16)):  # it has ended
                break
            data += piece
        else:
            os.kill(child, signal.SIGKILL)
            while select.select([pipe], [], [], 0)[0] and (piece := pipe.read(1 << 16)):
                data += piece  # it may have ended just before
    _, status = os.waitpid(child, 0)
    seconds = time.perf_counter() - started
    if os.WIFSIGNALED(status):
        if kill_after is None:
            raise RuntimeError(f"it hung for {_LIMIT:.0f} seconds")
        return None, seconds
    if not data:
        raise RuntimeError(f"it ended with status {status} and no answer")
    good, result = pickle.loads(data)
    if not good:
        raise RuntimeError(result)
    return result, seconds


def state_of(path: Path) -> State:
    """The hash of each file; measured times in JSON lines and hidden files do not count."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    state = {}
    for file in files:
        name = file.relative_to(path).as_posix()
        if not any(part.startswith(".") for part in name.split("/")[:-1]) and file.name not in _TIMES:
            state[name] = hashlib.sha256(_timeless(file)).hexdigest()
    return state


def _timeless(file: Path) -> bytes:
    content = file.read_bytes()
    try:
        return _without_times_in(file, content)
    except (ValueError, LookupError, TypeError, AttributeError):  # half-written, or damaged
        return content


def _without_times_in(file: Path, content: bytes) -> bytes:
    if file.name not in ("metrics.jsonl", "steps.jsonl", "manifest.json"):
        return content
    if file.name == "manifest.json":  # hashes of files with times in them
        files = json.loads(content)["files"]
        return json.dumps({key: one for key, one in files.items() if key not in _TIMES}).encode()
    records = [json.loads(line) for line in (content.splitlines() if file.suffix == ".jsonl" else [content])]
    return json.dumps([_without_times(one) for one in records]).encode()


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(one) for key, one in value.items() if key not in _VOLATILE}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


def leftovers(folder: Path) -> list[Path]:
    """Hidden folders that a killed process left, and saved parts of its work."""
    from spacy_pel.util.writing import is_staging_dir

    found = [path for path in folder.rglob("*") if is_staging_dir(path.name) or path.name.endswith(".parts")]
    return [path for path in found if "base" not in path.relative_to(folder).parts]


def check(case: Case, output: Path) -> None:
    """Raises:
    PelError, Exception: if what is there is not whole.
    """
    from spacy_pel.util.saved_folder import MANIFEST, verify_folders

    if output.is_dir() and any(output.rglob(MANIFEST)):
        verify_folders(output)
    case.opens(output)


# -- the trials ------------------------------------------------------------------------------------


def try_case(name: str, base: Path, *, kills: int, rng: random.Random, console: Console) -> Outcome:
    """Kill a command many times.

    Args:
        name: of the case.
        base: the inputs.
        kills: number of kills.

    Returns:
        What was found.
    """
    case, outcome = CASES[name], Outcome()
    with tempfile.TemporaryDirectory(prefix="kills_") as holder:
        old_folder = Path(holder) / "old"
        old_folder.mkdir()
        (old_folder / "base").symlink_to(base)
        in_child(lambda: case.prepare(old_folder))
        old = state_of(old_folder / case.output)
        trial = Path(holder) / "trial"

        def fresh() -> Path:
            shutil.rmtree(trial, ignore_errors=True)
            shutil.copytree(old_folder, trial, symlinks=True)
            return trial

        loaded, _ = in_child(lambda: (case.run(fresh(), False), list(sys.modules))[1])
        _import(loaded)
        _, outcome.seconds = in_child(lambda: case.run(fresh(), False))
        new = state_of(trial / case.output)
        tries = 0
        while outcome.kills < kills and tries < 4 * kills:
            tries += 1
            folder = fresh()
            # every other kill is near the end, where the result is moved to its place
            moment = rng.uniform(0.0 if tries % 2 else 0.8 * outcome.seconds, outcome.seconds)
            try:
                done, seconds = in_child(lambda: (case.run(folder, False), True)[1], kill_after=moment)  # noqa: B023
                if done:  # it was faster
                    outcome.seconds = 0.5 * (outcome.seconds + seconds)
                    continue
                outcome.kills += 1
                _look(case, folder, old, new, outcome)
            except Exception as err:  # whatever it is, the other kills go on
                outcome.broken.append(f"after {moment:.2f} s: {type(err).__name__}: {err}")
                console.print(f"{name}: {outcome.broken[-1]}")
    return outcome


def _look(case: Case, folder: Path, old: State, new: State, outcome: Outcome) -> None:
    """Look at what a killed command left, run it again, and count."""
    output = folder / case.output
    left = leftovers(folder)
    outcome.leftovers += bool(left)
    found = state_of(output)
    if found not in (old, new) and not case.partial:
        changed = sorted(key for key in {*found, *new} if found.get(key) not in (old.get(key), new.get(key)))
        mixed = sorted(key for key in {*found, *old, *new} if found.get(key) != old.get(key))
        raise RuntimeError(f"neither the old nor the new state: {changed or mixed}")
    in_child(lambda: check(case, output))
    if found == new:
        outcome.new += 1
    elif found == old:
        outcome.old += 1
    else:
        outcome.part += 1
    if found != new or case.again:
        in_child(lambda: case.run(folder, True))
        again = state_of(output)
        if again != new:
            differ = sorted(key for key in {*again, *new} if again.get(key) != new.get(key))
            raise RuntimeError(f"run again, it differs from a run that was not killed in {differ}")
        in_child(lambda: check(case, output))
        if still := [path.name for path in leftovers(folder)]:
            raise RuntimeError(f"run again, it leaves {still}")
        outcome.removed += bool(left)
    elif left:
        outcome.leftovers -= 1  # nothing was written again
    outcome.resumed += 1


def _import(modules: list[str]) -> None:
    """Import what a run imported, so that the kills hit its work."""
    for name in modules:
        if name.split(".")[0] not in ("__main__", "__mp_main__"):
            try:
                importlib.import_module(name)
            except Exception:  # not every entry of sys.modules can be imported by its name
                continue


def main(
    kills: Annotated[int, typer.Option(min=1, help="Kills of each command.")] = 50,
    only: Annotated[list[str] | None, typer.Option(help=f"One of: {', '.join(CASES)} (repeatable).")] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the times.")] = 0,
) -> None:
    """Kill commands at random times and print a table of what they left. Exit code 1 = something broke."""
    unknown = sorted({*(only or [])} - {*CASES})
    if unknown:
        raise typer.BadParameter(f"Expected one of {', '.join(CASES)}, got {', '.join(unknown)}.")
    console = Console(stderr=True)
    table = Table(*HEAD)
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="kills_base_") as holder:
        base = Path(holder) / "base"
        loaded, _ = in_child(lambda: (make_base(base), list(sys.modules))[1])
        _import(loaded)
        for name in only or CASES:
            rng = random.Random(f"{seed} {name}")
            outcome = try_case(name, base, kills=kills, rng=rng, console=console)
            outcomes.append(outcome)
            counts = (outcome.kills, outcome.old, outcome.part, outcome.new, len(outcome.broken))
            swept = (outcome.leftovers, outcome.removed, outcome.resumed)
            table.add_row(name, f"{outcome.seconds:.1f}", *map(str, (*counts, *swept)))
            console.print(name, *counts, *swept)
    Console(width=120).print(table)
    if any(outcome.broken for outcome in outcomes):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)

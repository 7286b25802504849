"""A tiny pipeline, made by the commands themselves, once for all tests of the folder."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from spacy_pel.cli import pel_cli
from spacy_pel.corpora import write_corpus
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.types import Document, Entity, Mention
from spacy_pel.util import write_jsonl

FIXTURES = Path(__file__).parents[1] / "fixtures" / "cli"
NAMES = ["aspirin", "ibuprofen", "heart attack", "stroke", "kidney stone", "fever", "asthma", "influenza"]
XREFS = [(f"MESH:D00000{i}", f"ICD10CM:A0{i}.1", f"ICD10CM:A0{i}.2") for i in range(len(NAMES) - 1)]
ENTITIES = [
    Entity(f"C{i}", name, (f"{name} disorder",), ("T047",), xrefs=xrefs)
    for i, (name, xrefs) in enumerate(zip(NAMES, [*XREFS, ()], strict=True))
]
UNKNOWN = ["zebra fish", "quantum dot"]  # concepts that the KB lacks


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*args: Any) -> Result:
    """Call ``spacy-pel`` in this process."""
    result = CliRunner().invoke(pel_cli, [str(arg) for arg in args])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Result(result.exit_code, result.stdout, result.stderr)


def done(*args: Any) -> Result:
    """The output of a command that must succeed."""
    result = run(*args)
    assert result.code == 0, result.err
    return result


def refused(code: str, *args: Any) -> str:
    """The messages of a command that fails with this code."""
    result = run(*args)
    assert result.code == 2 and f"PEL-{code}]" in result.err and "Traceback" not in result.err, result.err
    return result.err


def documents(n: int, names: list[str], prefix: str) -> list[Document]:
    """Documents that name two concepts each; those of UNKNOWN have ids that no KB knows."""
    made = []
    for i in range(n):
        text, mentions = "We studied", []
        for name in (names[i % len(names)], names[(i * 5 + 3) % len(names)]):
            start = len(text) + 1
            text += f" {name} in"
            known = name in NAMES
            ids = (f"C{NAMES.index(name)}",) if known else ("X1",)
            mentions.append(Mention(start, start + len(name), "ENTITY", ids))
        made.append(Document(f"{prefix}{i}", text + " mice.", mentions))
    return made


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Holds kb, model, index, pipeline, train.jsonl, dev.jsonl."""
    import spacy
    from spacy.cli import app as spacy_app

    path = tmp_path_factory.mktemp("cli")
    write_jsonl(path / "kb.jsonl", (entity.to_json() for entity in ENTITIES))
    assert run("kb", "build", path / "kb", "--reader", "jsonl", path / "kb.jsonl").code == 0
    HashEmbed(width=64).to_disk(path / "model")
    write_corpus(path / "train.jsonl", documents(20, NAMES[:6], "t"))
    write_corpus(path / "dev.jsonl", documents(40, NAMES + UNKNOWN, "d"))
    result = run(
        *("index", path / "kb", path / "model", path / "index", "--kinds", "card,alias,mention"),
        *("--mentions", path / "train.jsonl"),
    )
    assert result.code == 0, result.err
    ruler = spacy.blank("en")
    patterns = [{"label": "ENTITY", "pattern": name} for name in NAMES + UNKNOWN]
    ruler.add_pipe("entity_ruler").add_patterns(patterns)
    ruler.to_disk(path / "ruler")
    config = (FIXTURES / "pipeline.cfg").read_text()
    for name in ("ruler", "kb", "model", "index"):
        config = config.replace(f'"{name.upper()}"', json.dumps(str(path / name)))
    (path / "pipeline.cfg").write_text(config)
    assembled = CliRunner().invoke(spacy_app, ["assemble", str(path / "pipeline.cfg"), str(path / "pipeline")])
    assert assembled.exit_code == 0, assembled.output
    return path


@pytest.fixture(scope="module")
def runs(folder, tmp_path_factory):
    """Folders a and b with the same predictions, to change."""
    path = tmp_path_factory.mktemp("runs")
    done("evaluate", folder / "pipeline", folder / "dev.jsonl", "--output", path / "a")
    shutil.copytree(path / "a", path / "b")
    return path


@pytest.fixture
def pipeline(folder, tmp_path):
    """A copy of the pipeline, to change."""
    return shutil.copytree(folder / "pipeline", tmp_path / "pipeline")

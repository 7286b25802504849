"""The app itself: help, errors, overrides, spaCy's command line."""

import json
import logging
import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from spacy_pel.cli import _app
from spacy_pel.cli._app import PelGroup, _log_to_stderr
from spacy_pel.cli._output import key_values
from spacy_pel.errors import PelError
from spacy_pel.training.commands.train import parse_overrides
from spacy_pel.util import console, logger, progress

from .conftest import done, run

COMMANDS = """
    average calibrate check compare convert debug demo estimate evaluate explain index info link map mine quickstart
    report serve teach train verify
""".split()
GROUPS = {
    "kb": ["add", "build", "check", "diff", "edits", "info", "licences", "merge", "migrate", "show"],
    "candidates": ["add", "build", "eval"],
    "ranker": ["add", "train"],
    "corpus": ["abbreviations", "info", "restore"],
    "research": """
        default-nil default-weights gradients map margins notes okb sample study sweep worlds
    """.split(),
}
GROUPED = [f"{group} {name}" for group, names in GROUPS.items() for name in names]


@pytest.mark.parametrize("command", [*COMMANDS, *GROUPED])
def test_every_command_has_an_example(command):
    result = done(*command.split(), "--help")
    assert f"Example: spacy-pel {command} " in " ".join(result.out.split())


def listed_in(help_page):
    """The commands, in their order."""
    return re.findall(r"^│ (\w[\w-]*)  ", help_page, re.MULTILINE)


def test_help_lists_the_commands():
    page = run("--help").out
    assert sorted(listed_in(page)) == sorted([*COMMANDS, *GROUPS])
    assert listed_in(page)[:3] == ["quickstart", "demo", "link"], "in the order of use"
    panels = re.findall(r"^╭─ (.+?) ─", page, re.MULTILINE)
    assert panels == ["Options", "Link", "Knowledge bases", "Corpora", "Train", "Evaluate", "Research"]
    for group, names in GROUPS.items():
        assert sorted(listed_in(run(group, "--help").out)) == names
    assert "…" not in page, "no phrase is cut"


def test_a_group_that_an_entry_point_adds(monkeypatch):
    point = EntryPoint("plus", f"{__name__}:plus_cli", PelGroup.published)
    monkeypatch.setattr(_app, "entry_points", lambda group, name="plus": [point] if name == "plus" else [])
    assert run("plus", "one", "--number", 2).out == "3\n"
    assert "plus" in listed_in(run("--help").out) and "─ Commands ─" in run("--help").out
    result = run("plus", "two")
    assert result.code == 2 and result.err == "Error: No such command 'two'. Try: pel plus --help\n"
    result = run("plus", "fail")
    assert result.code == 2 and result.err == "Error: [PEL-E999] Expected a cat.\n"
    assert run("minus").code == 2


plus_cli = typer.Typer(name="plus")


@plus_cli.command("one")
def one(number: int = 0) -> None:
    typer.echo(number + 1)


@plus_cli.command("fail")
def fail() -> None:
    raise PelError("[PEL-E999] Expected a cat.")


@pytest.mark.slow
def test_python_m_spacy_pel_on_a_stream_of_ascii(folder):
    """spaCy's own command line knows ours. Letters that the stream lacks are escapes; JSON stays JSON."""
    words = ["-m", "spacy", "pel", "explain", str(folder / "pipeline"), "No “fever” – é. β.", "--json"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    output = subprocess.run([sys.executable, *words], capture_output=True, env=env, timeout=120)
    assert output.returncode == 0, output.stderr
    assert "é" in str(json.loads(output.stdout.decode("ascii")))


@pytest.fixture
def app():
    """Commands that fail in all the ways."""
    app = typer.Typer(cls=PelGroup, rich_markup_mode=None)

    @app.callback()
    def options(verbose: bool = False) -> None: ...

    @app.command()
    def pel() -> None:
        raise PelError("[PEL-E999] Expected a\n  cat.")

    @app.command()
    def missing() -> None:
        open("/nonexistent/file")

    @app.command()
    def bug() -> None:
        raise RuntimeError("a bug")

    @app.command()
    def number(n: int) -> None: ...

    return lambda *args: CliRunner().invoke(app, list(args))


@pytest.mark.parametrize(
    "args, line",
    [
        (["pel"], "Error: [PEL-E999] Expected a cat."),
        (["missing"], "Error: No such file or directory: /nonexistent/file"),
        (["number"], "Error: Missing argument 'n'. Try: "),
        (["number", "x"], "Error: Invalid value for 'n': "),
        (["pel", "--colour"], "Error: No such option: --colour"),
        (["bell"], "Error: No such command 'bell'."),
    ],
)
def test_one_line_and_exit_code_2(app, args, line):
    result = app(*args)
    assert result.exit_code == 2
    assert result.stdout == "" and result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("args", [["--verbose", "pel"], ["pel", "--verbose"]])
def test_verbose_shows_the_traceback(app, args):
    result = app(*args)
    assert result.exit_code == 2
    assert "Traceback" in result.stderr and result.stderr.endswith("Error: [PEL-E999] Expected a cat.\n")


def test_a_bug_is_not_hidden(app):
    assert isinstance(app("bug").exception, RuntimeError)


def test_overrides():
    given = ["--pel.training.max_epochs", "2", "--paths.kb=corpus/kb", "--a.b-c", '["x", "y"]', "--a.d", "-1"]
    assert parse_overrides(given) == {
        "pel.training.max_epochs": 2,
        "paths.kb": "corpus/kb",
        "a.b_c": ["x", "y"],
        "a.d": -1,
    }


@pytest.mark.parametrize("args", [["--nodot", "1"], ["plain.word"], ["--a.b"], ["--a.b", "--c.d", "1"]])
def test_malformed_overrides(args):
    with pytest.raises(PelError, match="E600"):
        parse_overrides(args)


def test_numbers_have_separators():
    assert key_values({"mentions": 12345, "kept": True}) == "mentions  12,345\nkept      true"


def test_messages_have_lines_of_their_own(capfd, monkeypatch):
    monkeypatch.setattr(console, "_DELAY", 0.0)
    _log_to_stderr(logging.INFO)
    for _ in progress(iter(range(2)), description="Writing entities"):
        logger.info("2 entities read")
    assert re.split("[\r\n]+", capfd.readouterr().err).count("2 entities read") == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_a_killed_worker_that_logs_leaves_bars_alone(capfd, monkeypatch):
    monkeypatch.setattr(console, "_DELAY", 0.0)
    _log_to_stderr(logging.INFO)
    bar = progress(iter(range(3)), description="Linking")
    next(bar)
    lock = sys.modules["tqdm"].tqdm.get_lock()
    child = os.fork()
    if not child:
        lock.acquire = lambda *args, **kwargs: os._exit(1)
        logger.info("from a worker")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    list(bar)
    assert "from a worker\n" in capfd.readouterr().err

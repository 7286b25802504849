"""The command line app: where commands are registered and how errors are shown."""

import inspect
import io
import logging
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer
from catalogue import RegistryError
from typer.core import TyperGroup

from ..errors import Errors, PelError, one_line
from ..util import logger
from ..util.config import describe_config_error, import_code, line_in
from ..util.parsing import DATA_ERRORS
from ._options import flag, option
from ._output import AS_JSON

_PANELS = ["Link", "Knowledge bases", "Corpora", "Train", "Evaluate"]  # in the order of use
_PAGES: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": "markdown"}


# typer has its own copy of click since 0.26: this finds the class in either one
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
VERBOSE = "--verbose"
CODE = "--code"
ARGS = "arguments"  # all others
_Json = Annotated[bool, flag("--json", "Print the result as one JSON object.")]
_AS_JSON = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_Json)


class OpenGroup(TyperGroup):
    """Has commands of its own, and those that entry points of ``published`` name: what trains linkers, and other
    packages. An entry point leads to a typer app: either a group of the entry point's name, or one that has a command
    of that name. It is imported when the command is called or listed."""

    published = "spacy_pel_kb_commands"

    def list_commands(self, ctx: Any) -> list[str]:
        commands: Any = self.commands
        return list(dict.fromkeys([*commands, *(point.name for point in entry_points(group=self.published))]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        for point in () if command else entry_points(group=self.published, name=cmd_name):
            app = point.load()
            group = typer.main.get_group(app)
            command = group.commands.get(cmd_name, group)
            if command is group:
                group.rich_help_panel = app.rich_help_panel
        return command


class PelGroup(OpenGroup):
    """Shows an error as one line on stderr and exits with 2. Anywhere on the command line, ``--verbose`` shows the
    traceback as well, and ``--code FILE`` imports a file that registers parts.

    Other packages add commands by the entry point group ``spacy_pel_commands``, e.g.
    ``research = spacy_pel_studies.cli:research_cli``.
    """

    published = "spacy_pel_commands"

    def list_commands(self, ctx: Any) -> list[str]:
        panels = {name: self.get_command(ctx, name).rich_help_panel for name in super().list_commands(ctx)}
        return sorted(panels, key=lambda name: [*_PANELS, panels[name]].index(panels[name]))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # what its encoding lacks is written as an escape
                stream.reconfigure(errors="backslashreplace")
        ctx.meta[VERBOSE] = VERBOSE in args
        ctx.meta[ARGS], ctx.meta[CODE] = without_code([arg for arg in args if arg != VERBOSE])
        return super().parse_args(ctx, list(ctx.meta[ARGS]))

    def invoke(self, ctx: Any) -> Any:
        _log_to_stderr(logging.DEBUG if ctx.meta[VERBOSE] else logging.INFO)
        try:
            import_code(ctx.meta[CODE])
            return super().invoke(ctx)
        except (BrokenPipeError, KeyboardInterrupt):
            raise
        except (UsageError, PelError, RegistryError, OSError, *DATA_ERRORS, MemoryError) as err:
            reason = _reason(err, ctx)
            if not reason:
                raise  # not an error: a help page was shown, for a group called without a command
            if ctx.meta[VERBOSE]:
                traceback.print_exception(err)
            typer.echo(f"Error: {' '.join(str(PelError(reason)).split())}", err=True)
            raise typer.Exit(2) from err


def _reason(err: Any, ctx: Any) -> str:
    """What was expected, what came and what to do."""
    if isinstance(err, UsageError):
        message: str = err.format_message()  # type: ignore[attr-defined]
        end = "" if message.endswith("?") else "."  # "Did you mean 'link'?"
        where = getattr(err, "ctx", None) or ctx
        return message and f"{message.rstrip('.')}{end} Try: {where.command_path} --help"
    if isinstance(err, PelError):
        return str(err)
    if isinstance(err, RegistryError):  # a config names an unknown part
        return describe_config_error(err)
    if isinstance(err, OSError):
        return ": ".join(str(part) for part in (err.strerror, err.filename) if part) or str(err)
    # the last net: no file may end in a traceback
    got = f"{type(err).__name__} ({err})" if str(err) else type(err).__name__
    if own := next(filter(None, (line_in(path, err) for path in ctx.meta[CODE])), None):
        return Errors.E015.format(got=got, place=own)
    return Errors.E013.format(got=got, files=", ".join(filter(os.path.isfile, ctx.meta[ARGS])) or "none")


def without_code(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments without ``--code FILE``, and these files."""
    rest: list[str] = []
    paths: list[str] = []
    words = iter(args)
    for word in words:
        name, equals, path = word.partition("=")
        if name == CODE:
            paths.append(path if equals else next(words, ""))
        else:
            rest.append(word)
    return rest, paths


class _BesideBars(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes a message on a line of its own, not behind a progress bar. A forked worker leaves the bars of
    its parent alone: their lock is the parent's, too, and the worker may be killed while it holds it."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._process = os.getpid()

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if record.exc_info else one_line(text)

    def emit(self, record: logging.LogRecord) -> None:
        tqdm: Any = getattr(sys.modules.get("tqdm"), "tqdm", None)  # None = no bar yet
        bars = getattr(tqdm, "_instances", ()) if os.getpid() == self._process else ()
        if not any(bar.last_print_t >= bar.start_t + bar.delay for bar in bars):  # tqdm.write would draw those to come
            return super().emit(record)
        try:
            tqdm.write(self.format(record), file=self.stream)
        except Exception:
            self.handleError(record)


def _log_to_stderr(level: int) -> None:
    logger.setLevel(level)
    if level > logging.DEBUG:  # its warnings are of settings that users do not set; ours say what matters
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    handler = _BesideBars(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    # the stream of an earlier call in the same process may be closed: replace its handler
    handler.set_name("spacy_pel.cli")
    logger.handlers = [*(other for other in logger.handlers if other.get_name() != handler.get_name()), handler]


class App(typer.Typer):
    """Its commands have the option ``--json``, see ``emit``."""

    def command(self, name: str | None = None, **settings: Any) -> Any:
        register = super().command(name, **settings)

        def with_json(function: Callable[..., None]) -> Any:
            @wraps(function)
            def run(as_json: bool, **given: Any) -> None:
                AS_JSON.set(as_json)
                function(**given)

            own: Any = inspect.signature(function)
            vars(run)["__signature__"] = own.replace(parameters=[*own.parameters.values(), _AS_JSON])
            return register(run)

        return with_json


def command_group(name: str, help: str, *, panel: str, cls: type[TyperGroup] = TyperGroup) -> App:
    """For the commands ``spacy-pel NAME ...``; the panel is that of the page ``spacy-pel --help``."""
    return App(name=name, help=help, rich_help_panel=panel, cls=cls, **_PAGES)


pel_cli = App(name="pel", cls=PelGroup, add_completion=False, pretty_exceptions_enable=False, **_PAGES)
kb_cli = command_group("kb", "Build, inspect and change knowledge bases.", panel="Knowledge bases", cls=OpenGroup)
pel_cli.add_typer(kb_cli, rich_help_panel=kb_cli.rich_help_panel)


@pel_cli.callback()
def _options(
    verbose: Annotated[bool, flag(VERBOSE, "Show debug messages and tracebacks (also after the command).")] = False,
    code: Annotated[
        Path | None,
        option("FILE", "A Python file with parts of your own, imported first (also after the command).", CODE),
    ] = None,
) -> None:
    """Biomedical entity linking: build a knowledge base, train, index, calibrate, evaluate, link.

    Results go to stdout, messages to stderr. Exit codes: 0 = done, 1 = `kb check` has failed, 2 = bad input or usage.
    """


def main() -> None:
    """The console script ``spacy-pel``."""
    pel_cli(prog_name="spacy-pel")

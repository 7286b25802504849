"""What the cases run on, and how one is registered."""

import functools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

NAME = "proxy_entity_linker"
MINUTES = 3  # a command that takes longer hangs
MORE_CODES = """code,name,synonyms,type
K50,Crohn\u2019s disease,,disease
J15,Bacterial pneumonia,"Pneumonia, bacterial",disease
J18,Pneumonia,,disease
G00,Bacterial meningitis,,disease
"""


class Row(NamedTuple):
    """One input. ``right`` is what should come, or a sentence about it with ``is_right`` beside it."""

    given: str
    right: Any
    got: Any
    is_right: bool | None = None


class Field:
    """What the cases run on, made when first asked for.

    Args:
        files: the folder of cases.
        work: a folder for outputs.
        default: the default pipeline.
    """

    def __init__(self, files: Path, work: Path, default: Path) -> None:
        self.files, self.work, self.default = files, work, default

    @functools.cached_property
    def table(self) -> Any:
        """`quickstart` of the folder's table."""
        return self._quickstart(self.files / "codes.csv", "table")

    @functools.cached_property
    def more(self) -> Any:
        """`quickstart` of a table with a typographic and an inverted name."""
        return self.quickstart_of(MORE_CODES, "more")

    @functools.cached_property
    def nlp(self) -> Any:
        """The default pipeline."""
        import spacy

        return spacy.load(self.default)

    @functools.cache  # noqa: B019 - one object for the whole run
    def quickstart_of(self, codes: str, name: str) -> Any:
        """`quickstart` of a table, given as text."""
        path = self.work / f"{name}.csv"
        path.write_text(codes, encoding="utf8")
        return self._quickstart(path, name)

    def _quickstart(self, codes: Path, name: str) -> Any:
        import spacy

        _, text = self.run("quickstart", codes, self.work / name, "--encoder", self.default, "--overwrite")
        if not (self.work / name).is_dir():
            raise RuntimeError(text)
        return spacy.load(self.work / name)

    def run(self, *arguments: Any) -> tuple[int, str]:
        """The exit code of a command, and what it printed."""
        command = [sys.executable, "-m", "spacy_pel", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * MINUTES)
        return done.returncode, done.stdout + done.stderr

    def answer(self, *arguments: Any) -> Any:
        """What a command prints as JSON; its last line if it fails."""
        command = [sys.executable, "-m", "spacy_pel", *map(str, arguments), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * MINUTES)
        if done.returncode:
            return f"exit code {done.returncode}: {done.stderr.strip().splitlines()[-1]}"
        return json.loads(done.stdout)


Case = Callable[[Field], Iterator[Row]]
CASES: dict[int, tuple[str, bool, Case]] = {}  # title, whether it must be right, what to try


def case(number: int, title: str, *, must: bool = True) -> Callable[[Case], Case]:
    """Registers a case; must = whether the command fails where it is not right."""

    def register(function: Case) -> Case:
        CASES[number] = (title, must, function)
        return function

    return register


def links(nlp: Any, text: str) -> dict[str, str]:
    """Ids by mention."""
    return {ent.text: ent.kb_id_ for ent in nlp(text).ents}


def mentions(nlp: Any, text: str) -> list[str]:
    """Texts of the mentions."""
    return [ent.text for ent in nlp(text).ents]

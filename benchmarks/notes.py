"""Measure how well a pipeline finds the mentions of clinical notes, patients' posts and trial criteria.

    python -m benchmarks.notes assets/pel_medmentions --examples

The lines were written for the tests, in ``tests/fixtures/notes.txt``, which says how they are marked. The
pipeline may be any that sets ``doc.ents``. A mention is right if it covers the words that must be found and
none beyond the words that may be. Findings, diseases, drugs, procedures, tests, anatomy, devices and organisms
must be found; ``--label`` counts mentions of these labels alone.
"""

import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from spacy.language import Language

from spacy_pel.util import machine_note

NOTES = Path(__file__).parents[1] / "tests" / "fixtures" / "notes.txt"
_KIND = "== "
_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t"}
_PARTS = re.compile(r"\{\??|\}|\\[nrt]|[^{}\\]+|.")
Offsets = tuple[int, int]


class Note(NamedTuple):
    """One text.

    Attributes:
        kind: of text, such as "doses".
        text: without marks.
        mentions: that must be found: the words that they must have, and the longest that they may be.
        optional: what may be found.
    """

    kind: str
    text: str
    mentions: list[tuple[Offsets, Offsets]]
    optional: list[Offsets]


class Outcome(NamedTuple):
    """What a pipeline found in one text or in several. Optional mentions are in none of the three.

    Attributes:
        right: mentions.
        wrong: mentions.
        missed: mentions.
    """

    right: list[str]
    wrong: list[str]
    missed: list[str]


def read_notes(path: Path = NOTES) -> list[Note]:
    """Read a file of marked lines.

    Args:
        path: the file.

    Returns:
        One for each line, in order.
    """
    notes: list[Note] = []
    kind = ""
    for line in path.read_text(encoding="utf8").split("\n"):
        if line.startswith(_KIND):
            kind = line.removeprefix(_KIND)
        elif line and kind:
            notes.append(parse(line, kind))
    return notes


def parse(line: str, kind: str = "") -> Note:
    """Read one marked line.

    Args:
        line: with marks.
        kind: of text.

    Returns:
        The text and its mentions.

    Raises:
        ValueError: if the marks do not pair.
    """
    text = ""
    opened: list[tuple[int, bool]] = []  # where a mark begins, and whether it is optional
    cores: list[Offsets] = []
    optional: list[Offsets] = []
    for part in _PARTS.findall(line):
        if part.startswith("{"):
            opened.append((len(text), part == "{?"))
        elif part != "}":
            text += _ESCAPES.get(part, part)
        elif opened:
            start, is_optional = opened.pop()
            (optional if is_optional else cores).append((start, len(text)))
        else:
            raise ValueError(f"Expected a '{{' before each '}}', got: {line}")
    if opened:
        raise ValueError(f"Expected a '}}' after each '{{', got: {line}")
    mentions = [(core, next((outer for outer in optional if _is_within(core, outer)), core)) for core in cores]
    return Note(kind, text, mentions, optional)


def made_up_notes(names: Sequence[str], *, seed: int = 0, lines: int = 5) -> Iterator[str]:
    """Notes without end, made of lines of ``NOTES``. Every second mention gives way to another name, so that new forms
    keep coming as they do in real text: a few names come often, most of them once (Zipf's law).

    Args:
        names: from which the others are drawn.
        seed: random seed.
        lines: of each note.

    Yields:
        A text.
    """
    rng = random.Random(seed)
    notes, ranked = read_notes(), rng.sample(names, len(names))
    while True:
        parts = []
        for note in rng.choices(notes, k=lines):
            text = note.text
            for (start, end), _ in reversed(note.mentions):
                if rng.random() < 0.5:
                    text = text[:start] + ranked[int(len(ranked) ** rng.random()) - 1] + text[end:]
            parts.append(text)
        yield "\n".join(parts)


def judge(note: Note, found: Iterable[Offsets]) -> Outcome:
    """Compare what was found in a text with what must be.

    Args:
        note: the text.
        found: character offsets of mentions, end exclusive.

    Returns:
        The mentions as text.
    """
    outcome = Outcome([], [], [])
    missed = dict(note.mentions)
    for span in found:
        text = note.text[slice(*span)]
        core = next(
            (core for core, outer in missed.items() if _is_within(core, span) and _is_within(span, outer)), None
        )
        if core is not None:
            del missed[core]
            outcome.right.append(text)
        elif _overlaps(span, (core for core, _ in note.mentions)) or not any(
            _is_within(span, one) for one in note.optional
        ):
            outcome.wrong.append(text)
    outcome.missed.extend(note.text[slice(*core)] for core in missed)
    return outcome


def measure(nlp: Language, notes: list[Note], labels: Iterable[str] = ()) -> Iterator[tuple[Note, Outcome]]:
    """Run a pipeline on texts.

    Args:
        nlp: sets ``doc.ents``.
        notes: the texts.
        labels: of the mentions that count; none = all.

    Yields:
        Each text with what was found.
    """
    kept = set(labels)
    for note, doc in zip(notes, nlp.pipe(note.text for note in notes), strict=True):
        found = [(ent.start_char, ent.end_char) for ent in doc.ents if not kept or ent.label_ in kept]
        yield note, judge(note, found)


def main(
    pipeline: Annotated[str, typer.Argument(help="A folder or a package.")],
    notes: Annotated[Path, typer.Option(help="The marked lines.")] = NOTES,
    label: Annotated[list[str] | None, typer.Option(help="Count mentions of this label (repeatable).")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="A component to leave out (repeatable).")] = None,
    examples: Annotated[bool, typer.Option("--examples", help="Also print what was wrong or missed.")] = False,
) -> None:
    """Print precision, recall and F1 by kind of text."""
    import spacy

    nlp = spacy.load(pipeline, exclude=["proxy_entity_linker", *(exclude or ())])
    results = list(measure(nlp, read_notes(notes), label or ()))
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 150)
    console.print(table_of(results, title=f"Mentions that {pipeline} finds in notes"))
    if examples:
        for note, outcome in results:
            if outcome.wrong or outcome.missed:
                console.print(f"{note.text!r}\n    wrong: {outcome.wrong}  missed: {outcome.missed}", markup=False)
    console.print(machine_note(), soft_wrap=True)


def table_of(results: Iterable[tuple[Note, Outcome]], title: str) -> Table:
    """A row for each kind of text, and one for all."""
    by_kind: dict[str, list[Outcome]] = {}
    for note, outcome in results:
        by_kind.setdefault(note.kind, []).append(outcome)
    table = Table(title=title)
    for column in ("kind", "texts", "right", "wrong", "missed", "P", "R", "F1"):
        table.add_column(column, justify="left" if column == "kind" else "right")
    for kind, outcomes in by_kind.items():
        table.add_row(kind, *_cells(outcomes))
    table.add_section()
    table.add_row("all", *_cells([one for outcomes in by_kind.values() for one in outcomes]))
    return table


def _cells(outcomes: list[Outcome]) -> list[str]:
    right, wrong, missed = (sum(map(len, column)) for column in zip(*outcomes, strict=True))
    shares = (right, right + wrong), (right, right + missed), (2 * right, 2 * right + wrong + missed)
    percent = (f"{100 * part / whole:.1f}" if whole else "–" for part, whole in shares)
    return [*map(str, (len(outcomes), right, wrong, missed)), *percent]


def _is_within(inner: Offsets, outer: Offsets) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _overlaps(span: Offsets, others: Iterable[Offsets]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in others)


if __name__ == "__main__":
    typer.run(main)

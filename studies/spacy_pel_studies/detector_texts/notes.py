"""Texts like clinical notes, patients' posts and trial criteria, made of names and templates: a detector learns from
them what abstracts do not show. No patient's text is among them."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity, Mention
from spacy_pel.types.semantic_types import ST21PV, st21pv_label, st21pv_type
from spacy_pel.util import read_lines

_FOLDER = Path(__file__).parent
_SLOT = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+(?:\.(\d+))?)\.\.(\d+(?:\.\d+)?)")
_SLOTS = {  # semantic type -> slot that its names fill; drugs are those of RxNorm
    **dict.fromkeys(("T046", "T047", "T048", "T191"), "disease"),
    **dict.fromkeys(("T033", "T184"), "finding"),
    **dict.fromkeys(("T060", "T061"), "procedure"),
    "T023": "anatomy",
}
_NAME = re.compile(r"[^,;()\[\]/ ]+(?: [^,;()\[\]/ ]+){0,2}")
_LENGTHS = range(3, 33)  # characters of a name
_NAMES = 3  # of an entity
_COMMON = 2 / 3  # of the names are common words
_ITEMS = (2, 6)  # of a list


class Name(NamedTuple):
    """What fills a slot."""

    text: str
    label: str
    ids: tuple[str, ...]


Names = dict[str, list[Name]]  # by slot


class NoteMaker:
    """Makes texts with typed mentions. The templates are in ``notes_templates.txt``; names are common words and short
    forms (``notes_words.tsv``) and, in a third of the places, names of a knowledge base that fit by their type.

    Args:
        kb: entities need semantic types, and drugs cross references to RxNorm.
        seed: another one makes other texts.
    """

    def __init__(self, kb: KnowledgeBase, *, seed: int = 0) -> None:
        self._common, self._of_kb = common_names(kb), names_of(kb)
        self._seed = seed

    def __call__(self, number: int) -> Document:
        """The text with this number, the same each time."""
        writer = _Writer((self._common, self._of_kb), Random(f"{self._seed} {number}"))
        writer.write("{text}")
        return Document(f"note{number}", writer.text, writer.mentions)


class _Writer:
    """Fills templates, and keeps where the names are."""

    def __init__(self, names: tuple[Names, Names], rng: Random) -> None:
        self.text = ""
        self.mentions: list[Mention] = []
        self._names = names
        self._rng = rng

    def write(self, template: str) -> None:
        for number, part in enumerate(_SLOT.split(template)):
            if number % 2:
                self._fill(part)
            else:
                self.text += part

    def _fill(self, slot: str) -> None:
        if slot in self._names[0]:
            self._add(slot)
        elif slot in templates():
            self.write(self._rng.choice(templates()[slot]))
        elif slot.startswith("list of "):
            self._list(slot.removeprefix("list of "))
        elif bounds := _RANGE.fullmatch(slot):
            value = self._rng.uniform(float(bounds[1]), float(bounds[3]))
            self.text += f"{value:.{len(bounds[2] or '')}f}"
        else:
            self.text += self._rng.choice(slot.split("|"))

    def _list(self, rule: str) -> None:
        first, *others = self._rng.choice(templates()["list"]).split("ITEM")
        n = self._rng.randint(*_ITEMS)
        for number in range(n):
            before = first if not number else others[0] if number < n - 1 else others[-2]
            self.text += before.replace("#", str(number + 1))
            self.write(f"{{{rule}}}")
        self.text += others[-1]

    def _add(self, slot: str) -> None:
        common, of_kb = (names.get(slot, []) for names in self._names)
        is_common = not of_kb or self._rng.random() < _COMMON
        name = self._rng.choice(common if is_common else of_kb)
        text = name.text
        if not is_common and slot != "drug" and text[1].islower() and self._rng.random() < 0.8:
            text = text[0].lower() + text[1:]
        change = self._rng.random()
        if change < 0.08:
            text = text.upper()
        elif change < 0.16:
            text = text[0].upper() + text[1:]
        start = len(self.text)
        self.text += text
        self.mentions.append(Mention(start, len(self.text), name.label, name.ids))


@cache
def templates() -> dict[str, list[str]]:
    """The ways to write each rule."""
    rules: dict[str, list[str]] = {}
    for _, line in read_lines(_FOLDER / "notes_templates.txt"):
        if line.startswith("["):
            lines = rules[line.strip("[]")] = []
        elif line and not line.startswith("# "):
            lines.append(line.replace("\\n", "\n").replace("\\r", "\r"))
    return rules


def common_names(kb: KnowledgeBase) -> Names:
    """Common words and short forms, with the entities of their type that have these names."""
    names: Names = defaultdict(list)
    for _, line in read_lines(_FOLDER / "notes_words.tsv"):
        if not line.startswith("#"):
            slot, kind, texts = line.split("\t")
            for text in texts.split("|"):
                ids = [key for key in kb.ids(text) if kind in map(st21pv_type, kb[key].types)]
                names[slot].append(Name(text, ST21PV[kind], tuple(ids)))
    return dict(names)


def names_of(kb: KnowledgeBase) -> Names:
    """Short names of entities that fit a slot by their type; findings have at least two words."""
    names: Names = defaultdict(list)
    for entity in kb.entities():
        slot = _slot_of(entity)
        for text in (entity.canonical_name, *entity.aliases)[:_NAMES]:
            is_short = len(text) in _LENGTHS and _NAME.fullmatch(text)
            if slot and is_short and not (entity.types[0] == "T033" and " " not in text):
                names[slot].append(Name(text, st21pv_label(entity.types), (entity.concept_id,)))
    return dict(names)


def _slot_of(entity: Entity) -> str | None:
    if any(xref.startswith("RXNORM:") for xref in entity.xrefs) and st21pv_label(entity.types) == ST21PV["T103"]:
        return "drug"
    return _SLOTS.get(entity.types[0]) if entity.types else None

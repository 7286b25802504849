"""Attacks with unusual texts: a small pipeline must link every one, alone as in a batch."""

import random
import shutil
from pathlib import Path
from typing import Any

import spacy

from benchmarks.attack.folders import made_up
from benchmarks.attack.mutations import ODD, mutated
from benchmarks.attack.runner import Wrong
from spacy_pel.util import read_json

_SCRIPTS = ("abc XYZ 019", "éüßñİı", "αβγ", "中文字", "عربي", "हिन्दी", "👩‍👩‍👧‍👦🏳️‍🌈", "𝒜𝔅")
_SCRIPTS += ("\u200b\u202e\u0301", " \t\n\r\x0b\x85\u2028")


class TextAttack:
    """Batches of texts through a pipeline."""

    name = "texts"

    def __init__(self) -> None:
        self.nlp: Any = None
        self.texts: list[str] = []

    def prepare(self, folder: Path) -> None:
        """Copy a pipeline of a few made-up entities."""
        shutil.copytree(made_up(folder.parent), folder, dirs_exist_ok=True)

    def begin(self, folder: Path) -> None:
        """Load it."""
        self.nlp = spacy.load(folder / "pipeline")
        self.texts = read_json(folder / "texts.json")

    def run(self, rng: random.Random, folder: Path) -> None:
        """Link one text, and the same in a batch with others."""
        texts = [odd(rng.choice(self.texts), rng) for _ in range(3)]
        alone = [links(self.nlp(text)) for text in texts]
        for text, doc, expected in zip(texts, self.nlp.pipe(texts), alone, strict=True):
            if doc.text != text:
                raise Wrong(f"another text than {text!r:.200}")
            if links(doc) != expected:
                raise Wrong(f"other links in a batch: {text!r:.200}")


def odd(text: str, rng: random.Random) -> str:
    """The text with something unusual in it."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(text) + 1)
        how = rng.randrange(6)
        if how == 0:
            text = text[:at] + rng.choice(ODD)[:200] + text[at:]
        elif how == 1:
            text = text[:at] + "".join(rng.choices(rng.choice(_SCRIPTS), k=rng.choice((1, 5, 50)))) + text[at:]
        elif how == 2:
            text = text[:at] + rng.choice((" ", "\n", "a", "(", "\u0301", "-")) * 3000 + text[at:]
        elif how == 3:
            text = text[:at]
        elif how == 4:
            text = mutated(text.encode(), rng).decode("utf8", "replace")[:20_000]
        else:
            text = rng.choice((text.upper(), text[::-1], text * 3, text.replace(" ", ""), "", " "))
    return text


def links(doc: Any) -> Any:
    """Of each entity. RAISES (Wrong): if one lies outside the text or has no id."""
    found = []
    for span in doc.ents:
        if not 0 <= span.start_char < span.end_char <= len(doc.text) or not span.kb_id_:
            raise Wrong(f"an entity at {span.start_char} to {span.end_char} with the id {span.kb_id_!r}")
        candidates = [(key, round(score, 4)) for key, score in span._.pel_candidates]
        found.append((span.start_char, span.end_char, span.label_, span.kb_id_, candidates))
    return found

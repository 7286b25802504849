"""Lists of words in the text files of this folder."""

from collections.abc import Sequence
from importlib import resources


def read_sections(file: str) -> dict[str, list[str]]:
    """The lines of each "[section]" of a file, without comments."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (resources.files(__package__) / file).read_text(encoding="utf8").splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections


def words_in(lines: Sequence[str]) -> list[str]:
    """What blanks divide."""
    return " ".join(lines).split()


def pairs_in(lines: Sequence[str]) -> dict[str, str]:
    """Every other word, and the word after it."""
    words = words_in(lines)
    return dict(zip(words[::2], words[1::2], strict=True))

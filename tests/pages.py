"""The pages of the documentation, cut into what tests look at."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "assets").glob("*.md"))]
PAGES.append(ROOT / "CONTRIBUTING.md")
CONFIGS = sorted((ROOT / "configs").glob("*.cfg"))


class Block(NamedTuple):
    """A fenced block of code."""

    language: str
    code: str


def name(path: Path) -> str:
    """The path in the repository, for test ids."""
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(encoding="utf8"), re.DOTALL | re.MULTILINE)
    return [Block(*one) for one in found]


def section(path: Path, title: str) -> str:
    """The text between the comments of this title; of several, joined."""
    found = re.findall(f"<!-- {title} -->\n(.*?)<!-- /{title} -->", path.read_text(encoding="utf8"), re.DOTALL)
    assert found, (path, title)
    return "\n".join(found)


def section_of(path: Path, heading: str) -> str:
    """The text below a heading of the second level."""
    text = path.read_text(encoding="utf8").partition(f"\n## {heading}\n")[2]
    assert text, (path, heading)
    return text.partition("\n## ")[0]


def rows(text: str) -> Iterator[list[str]]:
    """The cells of each row of the tables in a text, without heads."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        is_head = i + 1 < len(lines) and re.fullmatch(r"\|[-|]+\|", lines[i + 1])
        if line.startswith("|") and not is_head and not re.fullmatch(r"\|[-|]+\|", line):
            yield [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def shell_commands(path: Path) -> Iterator[list[str]]:
    """The words of each command in the shell blocks and inline code of a page, or in
    the comments of a config."""
    text = path.read_text(encoding="utf8")
    if path.suffix == ".cfg":
        comments = "\n".join(re.findall(r"^#\s*(.*)$", text, re.MULTILINE))
        shell = re.findall(r"^(?:spacy-pel|spacy|python) (?:\\\n|.)*(?:\n--.*)*", comments, re.MULTILINE)
        shell = [line.replace("\\\n", " ").replace("\n--", " --") for line in shell]
    else:
        shell = [code for language, code in blocks(path) if language == "bash"]
        shell += re.findall(r"`((?:spacy-pel|spacy|python -m|make) [^`]*)`", text)
    for code in shell:
        for line in code.replace("\\\n", " ").splitlines():
            yield from _split(line)


def options_after(path: Path, words: str) -> list[str]:
    """The options that a comment of a config lists behind these words, without
    ``--gpu-id``."""
    comments = " ".join(re.findall(r"^#\s*(.*)$", path.read_text(encoding="utf8"), re.MULTILINE))
    found = re.match(r"(?:\s+--[\w.-]+\s+[^\s-]\S*)+", comments.partition(words)[2])
    assert found, (path, words)
    options = shlex.split(found.group())
    pairs = zip(options[::2], options[1::2], strict=True)
    return [word for name, value in pairs if name != "--gpu-id" for word in (name, value)]


def _split(line: str) -> Iterator[list[str]]:
    for part in re.split(r"; (?:do |done)?|&& ", line):
        words = shlex.split(part, comments=True)
        if words:
            yield words


def product_commands(path: Path) -> Iterator[tuple[str, ...]]:
    """The words after ``spacy-pel`` or ``python -m spacy pel``."""
    for words in shell_commands(path):
        if words[:4] == ["python", "-m", "spacy", "pel"]:
            words = words[3:]
        elif words[0] != "spacy-pel":
            continue
        yield tuple(words[1:])


def sentences(path: Path) -> Iterator[str]:
    """The sentences of a page, without tables and blocks of code; a command, an interval or a link counts as a word."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\s*[|#!<].*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`|\[[-+]?[\d.]+, [-+]?[\d.]+\]", "x", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", re.sub(r"\]\([^)]*\)", "]", text)):
        yield from re.split(r"(?<=[.!?])\s+(?=[A-Z\"*\[\dx(])", " ".join(paragraph.split()))

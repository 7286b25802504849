"""Hooks of mkdocs: the site has the paths of the repository, so that links work in both, and a reference."""

import re
from importlib.metadata import distribution
from pathlib import Path

from mkdocs.structure.files import File

import spacy_pel

PAGES_ELSEWHERE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "assets/README.md", "assets/MODEL_CARD.md")
NO_PARTS = ("console_scripts", "spacy_cli")  # groups of entry points


def on_files(files, config):
    """Move docs/ to its path in the repository; add the other pages, what they link to, and the reference."""
    root = Path(config.config_file_path).parent
    paths = list(PAGES_ELSEWHERE)
    for file in [file for file in files if file.src_dir == config.docs_dir]:
        files.remove(file)
        if not file.src_uri.endswith(".py"):
            paths.append(f"docs/{file.src_uri}")
    for page in [path for path in paths if path.endswith(".md")]:
        for target in re.findall(r"\]\(([^)#:\s]+)", (root / page).read_text(encoding="utf8")):
            linked = ((root / page).parent / target).resolve()
            if linked.is_file():
                paths.append(linked.relative_to(root).as_posix())
    for path in dict.fromkeys(paths):
        files.append(File.generated(config, path, abs_src_path=str(root / path)))
    files.append(File.generated(config, "reference/python.md", content=public_names()))
    files.append(File.generated(config, "reference/parts.md", content=parts()))
    return files


def public_names():
    """The page of the names in ``spacy_pel.__all__``."""
    names = [name for name in spacy_pel.__all__ if not name.startswith("__")]
    options = "    options: { heading_level: 2, show_root_heading: true }"
    return "\n\n".join(["# Public names", *(f"::: spacy_pel.{name}\n{options}" for name in names)])


def parts():
    """The page of all registered parts, by registry: what they do and their settings."""
    page, group = ["# Registered parts"], ""
    for point in sorted(distribution("spacy-pel").entry_points, key=lambda point: (point.group, point.name)):
        if point.group in NO_PARTS:
            continue
        if point.group != group:
            group = point.group
            page.append(f"## {group.removeprefix('spacy_')}")
        options = "    options: { members: false, show_root_toc_entry: false }"
        page.append(f"### {point.name}\n\n::: {point.value.replace(':', '.')}\n{options}")
    return "\n\n".join(page)

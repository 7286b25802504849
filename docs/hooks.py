"""Hooks of mkdocs: the site has the paths of the repository, so that links work in both, a reference, and notebooks."""

import json
import re
from importlib.metadata import distribution
from pathlib import Path

from mkdocs.structure.files import File

import spacy_pel

PAGES_ELSEWHERE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "assets/README.md", "assets/MODEL_CARD.md")
NO_PARTS = ("console_scripts", "spacy_cli")  # groups of entry points that are no parts, as are those of commands


def on_files(files, config):
    """Move docs/ to its path in the repository; add the other pages, what they link to, notebooks as pages, and the
    reference."""
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
        if path.endswith(".ipynb"):
            page = notebook_page(root / path)
            files.append(File.generated(config, path.replace(".ipynb", ".md"), content=page))
    files.append(File.generated(config, "reference/python.md", content=public_names()))
    files.append(File.generated(config, "reference/parts.md", content=parts()))
    return files


def on_page_markdown(markdown, **_):
    """Links to notebooks lead to their pages."""
    return re.sub(r"(\]\([\w./-]+)\.ipynb\)", r"\1.md)", markdown)


def notebook_page(path):
    """A notebook as a page: its texts, and its code with what it printed and showed."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        language = "bash" if text.startswith("!") else "python"
        parts.append(f"```{language}\n{text.removeprefix('!')}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "text/html" in data:
                parts.append(" ".join("".join(data["text/html"]).split("\n")))
            elif "image/png" in data:
                description = cell["metadata"]["description"]
                parts.append(f'<img alt="{description}" src="data:image/png;base64,{data["image/png"]}">')
            else:
                parts.append(f"```text\n{''.join(data['text/plain']).rstrip()}\n```")
    return "\n\n".join(parts)


def public_names():
    """The page of the names in ``spacy_pel.__all__``."""
    names = [name for name in spacy_pel.__all__ if not name.startswith("__")]
    options = "    options: { heading_level: 2, show_root_heading: true }"
    return "\n\n".join(["# Public names", *(f"::: spacy_pel.{name}\n{options}" for name in names)])


def parts():
    """The page of all registered parts, by registry: what they do and their settings."""
    page, group = ["# Registered parts"], ""
    for point in sorted(distribution("spacy-pel").entry_points, key=lambda point: (point.group, point.name)):
        if point.group in NO_PARTS or point.group.endswith("_commands"):
            continue
        if point.group != group:
            group = point.group
            page.append(f"## {group.removeprefix('spacy_')}")
        options = "    options: { members: false, show_root_toc_entry: false }"
        page.append(f"### {point.name}\n\n::: {point.value.replace(':', '.')}\n{options}")
    return "\n\n".join(page)

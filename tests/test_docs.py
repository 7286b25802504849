"""The documentation: code runs, commands parse, tables name what there is, links lead somewhere."""

import inspect
import json
import re
from configparser import ConfigParser
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import catalogue
import pytest
import spacy
import srsly
import typer
from pages import (
    CONFIGS,
    PAGES,
    README,
    ROOT,
    blocks,
    name,
    product_commands,
    rows,
    section,
    section_of,
    shell_commands,
)
from typer.testing import CliRunner

from spacy_pel import KnowledgeBase, evaluate, registry
from spacy_pel.cli import pel_cli
from spacy_pel.cli._app import without_code
from spacy_pel.corpora import read_corpus
from spacy_pel.evaluation.metrics.all_metrics import RECALL_AT
from spacy_pel.kb.edits import Edit, notes_from_bytes, notes_to_bytes
from spacy_pel.kb.from_files import read_changes
from spacy_pel.kb.readers.jsonl_kb import JsonlKB
from spacy_pel.linking.combiner import DEFAULT_WEIGHTS
from spacy_pel.pipeline.factory import DEFAULT_CONFIG
from spacy_pel.training.commands.train import parse_overrides
from spacy_pel.training.ranker import settings as rank_settings
from spacy_pel.training.retriever import settings
from spacy_pel.training.settings import OptimizerSettings
from spacy_pel.types import Document, Entity, Mention
from spacy_pel.util.config import load_config

PIPELINE = Path("assets") / "pel_medmentions"
DOCS = ROOT / "docs"
TOP = typer.main.get_command(pel_cli)
CONTEXT = TOP.context_class(TOP, info_name="spacy-pel")
PARTS_OF_OPTIONS = {"--generator": "pel_candidates", "--index-type": "pel_indexes", "--preprocess": "pel_preprocessors"}


def small_pipeline():
    """Finds and links two names."""
    nlp = spacy.blank("en")
    names = ["rheumatoid arthritis", "methotrexate"]
    patterns = [{"label": "ENTITY", "pattern": [{"LOWER": word} for word in one.split()]} for one in names]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    config = {"encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1"}}
    linker = nlp.add_pipe("proxy_entity_linker", config=config)
    kb = KnowledgeBase([Entity(f"C{number}", one) for number, one in enumerate(names)])
    linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: kb)
    return nlp


@pytest.fixture
def pipeline(tmp_path, monkeypatch):
    """Runs the test where the pipeline is: the shipped one, or a small one in its place.

    Returns:
        Is it the shipped one?
    """
    if (ROOT / PIPELINE / "config.cfg").is_file():
        monkeypatch.chdir(ROOT)
        return True
    monkeypatch.chdir(tmp_path)
    PIPELINE.parent.mkdir()
    small_pipeline().to_disk(PIPELINE)
    return False


@pytest.fixture
def own_parts(monkeypatch):
    """Parts that a page registers are gone after the test."""
    yield
    for key in [key for key in catalogue.REGISTRY if key[-1].startswith("my.")]:
        del catalogue.REGISTRY[key]


def missing_packages(code):
    """The packages that Python code imports, and that are not installed."""
    modules = re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)
    return {module for module in modules if find_spec(module) is None}


def run_python(path, capsys):
    """Run the Python of a page, block by block, in one namespace, but for blocks whose packages are missing.

    Yields:
        What a block printed, and what the page says that it prints.
    """
    names = {}
    page = [*blocks(path), SimpleNamespace(language="", code="")]
    for block, following in zip(page, page[1:], strict=False):
        if block.language == "python" and not missing_packages(block.code):
            exec(compile(block.code, name(path), "exec"), names)
            yield capsys.readouterr().out, following.code if following.language == "text" else None


PAGES_WITH_INI = [path for path in PAGES if "```ini" in path.read_text(encoding="utf8")]
PAGES_WITH_PYTHON = [path for path in PAGES if "```python" in path.read_text(encoding="utf8")]


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES_WITH_PYTHON, ids=name)
def test_python_runs_and_prints_what_the_page_says(path, pipeline, own_parts, capsys):
    ran = list(run_python(path, capsys))
    loads_pipeline = any(str(PIPELINE) in block.code for block in blocks(path) if block.language == "python")
    if pipeline or not loads_pipeline:
        for printed, written in ran:
            assert written is None or printed == written
    if path == README:
        assert len(ran) >= 3 and ran[0][1] and "rheumatoid arthritis C" in ran[0][0]
        assert "canonical_name='rheumatoid arthritis'" in ran[1][0] and ran[2][0] == "['MY:1']\n"
    missing = {package for language, code in blocks(path) if language == "python" for package in missing_packages(code)}
    if missing:
        pytest.skip(f"all blocks ran, but for those with {', '.join(sorted(missing))}, which is not installed")


def test_features_of_an_explanation():
    [listed] = re.findall(
        r"<!-- features -->.*<!-- /features -->", (DOCS / "corrections.md").read_text(encoding="utf8"), re.DOTALL
    )
    named = [one for row in rows(listed) for one in re.findall(r"`(\w+)`", row[0])]
    assert sorted(named) == sorted(DEFAULT_WEIGHTS)


def test_own_part_of_the_page_works(own_parts, capsys):
    import torch

    list(run_python(DOCS / "parts.md", capsys))
    written = [code for language, code in blocks(DOCS / "parts.md") if language == "toml"]
    (entry_point,) = re.findall(r'^"(\S+)" = "\S+:Hinge"$', "\n".join(written), re.MULTILINE)
    loss = registry.pel_losses.get(entry_point)(margin=0.3)
    value = loss(torch.tensor([0.2]), torch.tensor([[0.1, 0.9]]), torch.tensor([[True, False]]))
    assert value.tolist() == pytest.approx([0.2])


@pytest.mark.parametrize("path", PAGES_WITH_INI, ids=name)
def test_sections_of_configs_build_their_parts(path, own_parts, capsys):
    if path.name == "parts.md":
        list(run_python(path, capsys))
    for language, code in blocks(path):
        if language != "ini":
            continue
        config = ConfigParser(interpolation=None, delimiters=("=",))
        config.optionxform = str
        config.read_string(code)
        for title in config.sections():
            values = {key: value if "${" in value else json.loads(value) for key, value in config[title].items()}
            kind = next(key for key in values if key.startswith("@"))
            registered = values.pop(kind)
            owner = registry if kind.startswith("@pel_") else spacy.registry
            part = getattr(owner, kind[1:]).get(registered)(**values)
            assert part is not None, title


# -- commands --------------------------------------------------------------------------------


def commands(group, *, prefix=""):
    """All commands below a group, by their full names."""
    found = {}
    for word in group.list_commands(CONTEXT):
        command = group.get_command(CONTEXT, word)
        if hasattr(command, "list_commands"):
            found.update(commands(command, prefix=f"{prefix}{word} "))
        else:
            found[prefix + word] = command
    return found


COMMANDS = commands(TOP)


def parsed(words):
    """Parse a command line as the app does, without running it.

    Returns:
        The command's full name and its arguments.
    """
    words, _ = without_code(words)  # of every command, read before it
    n_words = 2 if " ".join(words[:2]) in COMMANDS else 1
    full_name = " ".join(words[:n_words])
    assert full_name in COMMANDS, f"no command {' '.join(words)!r}"
    return full_name, COMMANDS[full_name].make_context(full_name, list(words[n_words:]))


@pytest.mark.parametrize("path", [*PAGES, *CONFIGS], ids=name)
def test_commands_parse(path):
    for words in product_commands(path):
        if words in {("COMMAND",), ("COMMAND", "…")}:
            continue
        full_name, context = parsed(words)
        if context.args:  # overrides of a config
            config = load_config(ROOT / context.params["config"])
            for key in parse_overrides(context.args):
                assert key.partition(".")[0] in config, (words, key)
        for option, word in zip(words, words[1:], strict=False):
            table = PARTS_OF_OPTIONS.get(option)
            if option == "--reader":
                table = "pel_kb_readers" if full_name == "kb build" else "pel_corpus_readers"
            if table and "$" not in word:
                assert set(word.split(",")) <= set(registry.parts(table)), words


def test_commands_of_the_table_are_the_commands():
    text = section(DOCS / "commands.md", "commands")
    written = [re.match(r"`((?:[a-z]+(?:-[a-z]+)* ?)+)", cells[0])[1].strip() for cells in rows(text)]
    assert sorted(written) == sorted(COMMANDS)


@pytest.mark.parametrize("path", [*PAGES, *CONFIGS], ids=name)
def test_other_commands_exist(path):
    project = srsly.read_yaml(ROOT / "project.yml")
    known = {command["name"] for command in project["commands"]} | set(project["workflows"])
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf8"), re.MULTILINE)
    for words in shell_commands(path):
        if words[:3] == ["spacy", "project", "run"]:
            assert words[3] in known, words
            assert {word[7:] for word in words if word.startswith("--vars.")} <= set(project["vars"]), words
        elif words[:2] == ["spacy", "assemble"]:
            paths = set(load_config(ROOT / words[2])["paths"])
            assert {word[8:] for word in words if word.startswith("--paths.")} <= paths, words
        elif words[:2] == ["python", "-m"] and words[2].startswith("benchmarks."):
            module = ROOT / words[2].replace(".", "/")
            assert module.with_suffix(".py").is_file() or (module / "__main__.py").is_file(), words
        elif words[0] == "make":
            assert words[1] in targets, words


# -- tables ----------------------------------------------------------------------------------

PUBLISHED = {
    (point.group, point.name): point
    for point in distribution("spacy-pel").entry_points
    if point.group.startswith("spacy_") and not point.group.endswith(("_cli", "_commands"))
}


def documented_parts():
    """(group, name) -> what it is, and its settings, of each row of the table."""
    documented = {}
    for part in section(DOCS / "parts.md", "names").split("\n### "):
        group = re.search(r"`(spacy_\w+)`$", part.splitlines()[0])
        for part_name, what, settings_ in rows(part):
            documented[group[1], part_name.strip("`")] = what, re.findall(r"`([^`]+)`", settings_)
    return documented


def settings_of(entry):
    """The settings of a part as the table has them: with their defaults, in JSON."""
    if entry[0] in ("spacy_factories", "spacy_pel_rank_recipes"):
        return None  # the component has a table of its own; recipes are not in configs
    listed = []
    for setting, parameter in inspect.signature(PUBLISHED[entry].load()).parameters.items():
        default = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        is_needed = default is parameter.empty
        listed.append(setting if is_needed else f"{setting} = {json.dumps(default, separators=(',', ':'))}")
    return listed


def test_rows_of_the_table_are_the_registered_parts():
    documented = documented_parts()
    assert not documented.keys() - PUBLISHED.keys(), "rows in docs/parts.md without a registered part"
    for entry in PUBLISHED:
        what, written = documented.get(entry, ("what it is", None))
        real = settings_of(entry)
        row = f"| `{entry[1]}` | {what} | {', '.join(f'`{setting}`' for setting in real or ())} |"
        is_right = written is not None and (real is None or sorted(written) == sorted(real))
        assert is_right, f"docs/parts.md needs this row below the heading with `{entry[0]}`:\n{row}"


METHODS = DOCS / "methods.md"
OF_PAPERS = ("losses", "anchors", "regularizers", "mixing", "negatives", "similarities", "templates")


def test_methods_name_what_their_files_define():
    linked = re.findall(r"\[`(\w+)`\]\(\.\./(\w+/[\w/]+\.py)\)", METHODS.read_text(encoding="utf8"))
    for name_, file in linked:
        defines = rf"^(?:class|def) {name_}\b|^{name_}\b *[:=]"
        assert re.search(defines, (ROOT / file).read_text(encoding="utf8"), re.MULTILINE), (name_, file)
    registered = [part.split(".") for kind in OF_PAPERS for part in registry.parts(f"pel_{kind}").values()]
    parts = {name_ for package, name_, _ in registered if package == "spacy-pel"}  # other tests register theirs
    assert len(parts) > 20 and parts <= {name_ for name_, _ in linked}
    assert len(set(linked)) > 60


def test_methods_say_where_and_name_commands_that_exist():
    table = list(rows(METHODS.read_text(encoding="utf8")))
    assert len(table) > 60 and {len(cells) for cells in table} == {4}
    for element in table:
        assert re.search(r"\]\(\.\./|`", element[2]), element
        codes = re.findall(r"`([^`]+)`", element[2])
        for code in codes:
            words = code.split()
            command = TOP.get_command(CONTEXT, words[0])
            if command is not None:
                words.pop(0)
                while words and hasattr(command, "get_command"):
                    command = command.get_command(CONTEXT, words.pop(0))
                    assert command is not None, code
                known = {option for one in command.params for option in one.opts}
                assert {word for word in words if word.startswith("--") and "." not in word} <= known, code
            else:
                assert re.fullmatch(r"\w+|\w+ = \S+|python -m .*", code), code


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_registered_names_exist(path):
    known = {part for _, part in PUBLISHED} | {"spacy-pel.Name.v1"}
    assert set(re.findall(r"spacy-pel\.\w+\.v\d+", path.read_text(encoding="utf8"))) <= known


def test_settings_of_the_component():
    written = {
        cells[0].strip("`"): cells[1].strip("`") for cells in rows(section(DOCS / "configuration.md", "component"))
    }
    real = {}
    for setting, default in DEFAULT_CONFIG.items():
        is_part = isinstance(default, dict) and default
        short = next(iter(default.values())).split(".")[1] if is_part else None
        real[setting] = short or json.dumps(default, separators=(",", ":"))
    assert written == real


TRAININGS = {
    "pel.positives": settings.ViewSettings(),
    "pel.training": settings.TrainingSettings(),
    "pel.training.optimizer": OptimizerSettings(),
    "pel.training.mining": settings.MiningSettings(),
    "pel.training.dev": settings.DevSettings(),
    "ranker.candidates": rank_settings.CandidateSettings(),
    "ranker.training.dev": rank_settings.RankDevSettings(),
}


def test_settings_of_trainings():
    text = section(DOCS / "configuration.md", "settings")
    parts = re.split(r"^`\[([\w.]+)\]`", text, flags=re.MULTILINE)
    written = {
        title: {cells[0].strip("`"): cells[1].strip("`") for cells in rows(part)}
        for title, part in zip(parts[1::2], parts[2::2], strict=True)
    }
    for part, schema in TRAININGS.items():
        flat = {key: value for key, value in schema if not hasattr(value, "model_dump")}
        needed = {key: "required" for key, field in type(schema).model_fields.items() if field.is_required()}
        assert written.pop(part) == {
            **needed,
            **{key: json.dumps(value, separators=(",", ":")) for key, value in flat.items()},
        }
    assert not written


def test_kinds_of_saved_folders(tmp_path):
    small_pipeline().to_disk(tmp_path / "pipeline")
    made = [json.loads(path.read_text()) for path in sorted(tmp_path.rglob("manifest.json"))]
    saved_folders = section_of(DOCS / "file-formats.md", "Saved folders")
    assert {one["kind"] for one in made} <= {cells[0] for cells in rows(saved_folders)}
    (example,) = [json.loads(code) for language, code in blocks(DOCS / "file-formats.md") if '"sha256"' in code]
    (kb,) = [one for one in made if one["kind"] == example["kind"]]
    assert kb.keys() == example.keys() and kb["format"] == example["format"]
    assert example["files"].keys() < kb["files"].keys() and len(made) >= 3
    assert all(entry.keys() == kb["files"]["meta.json"].keys() for entry in example["files"].values())


def test_examples_of_formats_can_be_read(tmp_path):
    examples = [code for language, code in blocks(DOCS / "file-formats.md") if language == "json"]
    manifest, entity, change, edit, *of_documents = examples
    assert set(json.loads(manifest)) == {"kind", "format", "files"}
    (tmp_path / "changes.jsonl").write_text(entity + change, encoding="utf8")
    changes = read_changes(JsonlKB(), [tmp_path / "changes.jsonl"])
    assert changes.entities[0].concept_id == "C0010674" and changes.retired == {"MY:0": "MY:1"}
    (edit_read,) = notes_from_bytes(edit.encode("utf8"), Edit).items()
    assert edit_read[0] == "HP:0000822" and edit_read[1].kind == "renamed"
    assert notes_to_bytes(dict([edit_read])).decode("utf8").strip() == edit.strip()
    with_text = [code for code in of_documents if '"mentions"' in code]
    assert len(with_text) == 2
    for code in with_text:
        (tmp_path / "corpus.jsonl").write_text(code, encoding="utf8")
        (document,) = read_corpus(tmp_path / "corpus.jsonl")
        assert [document.text[one.start : one.end] for one in document.mentions] == ["CF"]
    for code in set(of_documents) - set(with_text):
        assert json.loads(code)["text"] == "CF"


def test_keys_of_metrics_json_are_described():
    linker = small_pipeline().get_pipe("proxy_entity_linker").linker
    mentions = [Mention(0, 15, "ENTITY", ids=("C0",)), Mention(20, 26, "ENTITY", ids=())]
    documents = [Document("1", "Cystic fibrosis and sepsis.", mentions=mentions)]
    written = set()
    text = section_of(DOCS / "file-formats.md", "metrics.json")
    for cells in rows(text):
        for key in re.findall(r"`([^`]+)`", cells[0]):
            stem, _, first = key.partition("@")
            numbers = first.split("|") if first != "k" else RECALL_AT
            written |= {f"{stem}@{number}" for number in numbers} if first else {key}
    keys = {re.sub(r".+(_low|_high)$", r"…\1", key) for key in evaluate(linker, documents)}
    assert keys <= written | {"bootstrap"} and {"recall@64", "nil_ece", "kb_fingerprint"} <= keys
    assert written - keys <= {"threshold_by_label"}, "keys that do not exist"


# -- links -----------------------------------------------------------------------------------


def anchors(path):
    """The anchors that GitHub makes from the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf8")
    for alternative, target in re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        if file.startswith("https://"):
            continue
        where = path.parent / file if file else path
        assert where.exists(), target
        assert not anchor or anchor in anchors(where), target
        assert not alternative or where.stat().st_size < 150_000, target
    assert all(words for words in re.findall(r"!\[([^\]]*)\]", text)), "a picture without a description"


@pytest.mark.parametrize("path", [*PAGES, *CONFIGS], ids=name)
def test_files_are_there(path):
    text = path.read_text(encoding="utf8")
    named = re.findall(r"\b(?:configs|assets|docs)/[\w./]+\.(?:cfg|md|png)|\bspacy_pel/[\w/]+", text)
    for file in named:
        assert (ROOT / file).exists() or (ROOT / f"{file}.py").exists(), file
    assert all(find_spec(module) for module in re.findall(r"\bspacy_pel(?:\.[a-z_]+)+\b(?!\()", text))


def test_migrate_prints_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ("CF", "cystic fibrosis", "mucoviscidosis")
    old = KnowledgeBase([Entity(f"C{i}", one) for i, one in zip(("9000001", "0010674", "9000002"), names, strict=True)])
    old.to_disk("corpus/kb_2023")
    old.retire(["C9000001", "C9000002"], {"C9000001": "C0010674"})
    old.to_disk("corpus/kb_2024")
    mentions = [{"start": 0, "end": 2, "kb_id": kb_id, "name": "CF"} for kb_id in ("C9000001", "C9000002")]
    Path("linked.jsonl").write_text(json.dumps({"id": "1", "text": "CF", "mentions": mentions, "meta": {}}) + "\n")
    page = blocks(DOCS / "knowledge-bases.md")
    (at,) = (number for number, block in enumerate(page) if "spacy-pel kb migrate" in block.code)
    result = CliRunner().invoke(pel_cli, page[at].code.split()[1:])
    assert result.exit_code == 0 and result.stdout == page[at + 1].code

"""The command ``quickstart``: from a table of codes to a pipeline that links them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import Errors, PelError
from ..pipeline.saved import FACTORY, linker_names, load_pipeline, load_spacy, pipeline_folder, saved_part
from ..util import atomic_path
from ._app import pel_cli
from ._kb import reader_of, source_record
from ._options import Below, Licence, NewPipeline, Overwrite, Settings, argument, flag, option
from ._output import emit, key_values, link_table, message
from ._saved_pipeline import default_pipeline, encoder_folder
from ._settings import make_reader, parse_settings

if TYPE_CHECKING:
    from spacy.language import Language

    from ..index.row_encoders import ResumableEncoder
    from ..kb import KnowledgeBase

_NAME_FINDER = "pel_name_finder"
_ABBREVIATIONS = ("pel_abbreviation_detector", "abbreviation_detector")  # the second is scispaCy's
_N_SHOWN = 3  # entities in the example text
# settings of a linker that its encoder depends on. Its calibration is not taken: it belongs to another knowledge base
# with annotated text, and on ontologies without text it calls half of the linkable mentions NIL
_ENCODER_SETTINGS = ("encoder", "max_length", "expand_abbreviations")
# NIL threshold. P(NIL) of a name in the table is below 0.1, but not that of "MI" in a text that says
# "mitral insufficiency (MI)" if the table has it as myocardial infarction
_NAMES_LINKED = 0.5
# A small table lacks most of what a detector finds: with 50 codes and this share, wrong links of notes that have
# P(right) > 0.5 fall from 4.4 to 0.4% of the mentions
_SMALL, _NIL_SHARE = 1_000, 0.75
_NIL_OF_NAMES = "only an abbreviation that the text defines as something else; what has no name here is not found"
_NIL_OF_DETECTOR = "by default weights, which miss some and reject some right links; calibrate on text of your own"
_NIL_OF_SMALL = f"{_NIL_OF_DETECTOR}. Until then, {_NIL_SHARE:.0%} of the mentions are expected to be NIL"

_PYTHON = """\
import spacy

nlp = spacy.load({path!r})
for ent in nlp({text!r}).ents:
    print(ent.text, ent.kb_id_, ent._.pel_name, ent._.pel_probability)"""


@pel_cli.command("quickstart", rich_help_panel="Link")
def quickstart(
    codes: Annotated[Path, argument("CODES.csv", "Code, name, synonyms (with |), type. Or a source of `kb build`.")],
    out: NewPipeline,
    ner: Annotated[
        Path | None, option("PIPELINE", "Find mentions with this pipeline. They may be NIL.", parser=pipeline_folder)
    ] = None,
    phrases: Annotated[bool, flag("--phrases", "Find the names in the table. The default without --ner.")] = False,
    encoder: Annotated[
        Path | None, option("FOLDER", "A model or pipeline. Default: --ner or the default one.", parser=pipeline_folder)
    ] = None,
    reader: Annotated[str | None, option("NAME", "The format, as for `kb build`. Default: by the file name.")] = None,
    settings: Settings = None,
    below: Below = None,
    licence: Licence = None,
    overwrite: Overwrite = False,
) -> None:
    """Make a pipeline (knowledge base, index, finder of mentions) from a table or an ontology, without training.

    Without --ner, the mentions are the names in the table and abbreviations that a text defines for them. Each is
    linked, unless the text defines it as something else. With --ner, a mention may be NIL: the default NIL weights
    decide until you `calibrate` on annotated text of your own.

    Example: spacy-pel quickstart codes.csv my_pipeline
    """
    from ..kb import KnowledgeBase
    from ..kb.from_files import build_kb
    from ..kb.sources import not_of
    from ..pipeline.detectors.name_search import example_text
    from ..pipeline.mentions import mention_record, mention_spans

    started = time.perf_counter()
    if out.exists() and not (overwrite and (out / "config.cfg").is_file()):
        got = "a pipeline" if (out / "config.cfg").is_file() else "a folder that is no pipeline, or a file"
        raise PelError(Errors.E658.format(path=out, got=got))
    if encoder is None and ner and (ner / "config.cfg").is_file() and saved_part(ner, "encoder"):
        encoder = ner
    source = _encoder_source(encoder or default_pipeline("--encoder"))
    nlp = _mention_finder(ner)
    # for `spacy package`. Of what the detector's pipeline says of itself, only the sources still hold
    nlp.meta = {"lang": nlp.lang, "sources": not_of(None, nlp.meta.get("sources"))}
    if (name := out.name.removeprefix(f"{nlp.lang}_")).isidentifier():
        nlp.meta["name"] = name
    with atomic_path(out) as part:
        part.mkdir()
        if (codes / "meta.json").is_file() and not (reader or below):  # the folder of a knowledge base
            kb = KnowledgeBase.from_disk(codes)
        else:
            about = source_record(reader or reader_of(codes), parse_settings(settings or []), licence)
            made = make_reader("pel_kb_readers", about["reader"], about["settings"])
            kb = build_kb(made, [codes], part / FACTORY / "kb", about=about, below=below or (), show_progress=True)
        vectors = _add_linker(nlp, kb, *source, out, names_linked=ner is None)
        n_names = _add_name_finder(nlp) if phrases or ner is None else 0
        nlp.to_disk(part)
        loaded = load_pipeline(part)  # an unusable pipeline is not kept
        doc = loaded.nlp(example_text(loaded.component.kb, _N_SHOWN))
        spans = mention_spans(doc, loaded.component.spans_key)
        mentions = [mention_record(loaded.component, span, _N_SHOWN) for span in spans]
    vectors.finish()
    counts = {"entities": len(kb), "names": len(kb) + kb.meta["counts"]["aliases"], "phrases": n_names}
    repairs = {**kb.source.get("repairs", {}), **kb.meta["report"]}
    result: dict[str, Any] = {"output": str(out), **counts, "repairs": repairs, "components": nlp.pipe_names}
    result |= {"seconds": time.perf_counter() - started, "text": doc.text, "mentions": mentions}
    result["python"] = _PYTHON.format(path=str(out), text=doc.text)
    facts = {key: result[key] for key in ("output", "entities", "names", "repairs", "seconds")}
    facts["NIL"] = _NIL_OF_NAMES if ner is None else _NIL_OF_SMALL if len(kb) < _SMALL else _NIL_OF_DETECTOR
    shown = (key_values(facts), doc.text, link_table(mentions, kb), result["python"])
    emit(result, lambda _: "\n\n".join(shown))


@contextmanager
def pipeline_of(path: str, out: Path) -> Iterator[str]:
    """A pipeline's path, or that of a passing pipeline with the names of the KB in this folder.

    Args:
        path: of either.
        out: vectors of names are kept next to it, so that they are computed once if this is interrupted.
    """
    from ..kb import KnowledgeBase

    folder = Path(path)
    if (folder / "config.cfg").is_file() or not (folder / "meta.json").is_file():
        yield path
        return
    message(f"To embed {path} just once, make a pipeline: spacy-pel quickstart {path} my_pipeline")
    nlp = _mention_finder(None)
    source = _encoder_source(default_pipeline("PIPELINE"))
    vectors = _add_linker(nlp, KnowledgeBase.from_disk(folder), *source, out, names_linked=True)
    with TemporaryDirectory() as passing:
        nlp.to_disk(passing)
        yield passing
    vectors.finish()


def _mention_finder(ner: Path | None) -> "Language":
    """A pipeline that finds mentions, or a blank one; with an abbreviation detector and without linkers.

    Raises:
        PelError: if there is no such pipeline.
    """
    import spacy

    from ..pipeline.detectors.sci_tokenizer import add_run_rules

    nlp = spacy.blank("en") if ner is None else load_spacy(ner)
    add_run_rules(nlp.tokenizer)
    for name in linker_names(nlp):
        nlp.remove_pipe(name)
    factories = {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    if factories.isdisjoint(_ABBREVIATIONS):
        nlp.add_pipe(_ABBREVIATIONS[0], config={"mentions": True})
    return nlp


def _encoder_source(model: Path) -> tuple[Path, dict[str, Any]]:
    """The folder of an encoder, and the settings of a linker that depend on it.

    Args:
        model: the folder of an encoder, or of a pipeline with one linker.
    """
    from ..util.config import load_config
    from ..util.saved_folder import read_part

    folder = encoder_folder(model)
    settings = {"encoder": {"@pel_encoders": read_part(folder, kind="encoder")["encoder"]}}
    if folder != model:
        of_linker = load_config(model / "config.cfg")["components"][folder.parent.name]
        settings.update({name: of_linker[name] for name in _ENCODER_SETTINGS if name in of_linker})
    return folder, settings


def _add_linker(
    nlp: "Language", kb: "KnowledgeBase", folder: Path, settings: dict[str, Any], out: Path, *, names_linked: bool
) -> "ResumableEncoder":
    """Embed the knowledge base and add a linker for it.

    Args:
        nlp: gets the linker as its last component.
        kb: the entities.
        folder: of the encoder.
        settings: of the linker.
        out: computed vectors are kept next to it.
        names_linked: mentions are names of the table, so that few are NIL.

    Returns:
        To be finished once the pipeline is saved.
    """
    from ..encoders.pretrained import load_encoder
    from ..index import EntityIndex
    from ..index.row_encoders import ResumableEncoder

    encoder = load_encoder(folder)
    vectors = ResumableEncoder(encoder, out.with_name(f"{out.name}.parts"))
    component: Any = nlp.add_pipe(FACTORY, config=settings)
    message(f"Embedding {len(kb):,} entities")
    index = EntityIndex.build(kb, vectors, index=component.vector_index, kinds=component.row_kinds, show_progress=True)
    component.initialize(
        lambda: [], kb_loader=lambda: kb, encoder_loader=lambda _: encoder, index_loader=lambda *_: index
    )
    if names_linked:
        component.linker.decider.calibrated_threshold = _NAMES_LINKED
    elif len(kb) < _SMALL:
        component.linker.decider.expected_nil_share = _NIL_SHARE
    return vectors


def _add_name_finder(nlp: "Language") -> int:
    """Add a component that finds the names of the knowledge base. It comes after those that find mentions, whose
    mentions it keeps where they are longer.

    Returns:
        The number of names that it searches for.
    """
    for name in nlp.pipe_names:
        if nlp.get_pipe_meta(name).factory == _NAME_FINDER:  # the detector's pipeline was made with it
            nlp.remove_pipe(name)
    detectors = [name for name in nlp.pipe_names if "doc.ents" in nlp.get_pipe_meta(name).assigns]
    position: dict[str, Any] = {"after": detectors[-1]} if detectors else {"first": True}
    finder: Any = nlp.add_pipe(_NAME_FINDER, name="name_finder", config={"linker": FACTORY}, **position)
    return len(finder)

"""What spaCy finds by itself: the factory of the component, and the colours of labels for displaCy. spaCy imports this
file for every pipeline, so its imports stay cheap."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.util import registry as spacy_registry

from ..types.semantic_types import TYPE_LABELS, label_group
from .settings import PARTS, LinkerSettings

if TYPE_CHECKING:
    from .proxy_entity_linker import ProxyEntityLinker

# as in mentions.py, which takes longer to import
_EXTENSIONS = ("candidates", "nil_score", "id", "name", "types", "xrefs", "probability", "relation", "set")
_OTHER_SCORES = [f"nel_{kind}_{score}" for kind in ("micro", "nil") for score in "fpr"]
DEFAULT_CONFIG: dict[str, Any] = {**LinkerSettings().model_dump(), **PARTS}


def _with_settings(make: Callable[..., Any]) -> Callable[..., Any]:
    """Tell spaCy, which reads the signature, the names of the settings; LinkerSettings checks their values."""
    names = ("nlp", "name", *DEFAULT_CONFIG)
    parameters = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=Any) for name in names]
    make.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return make


@Language.factory(
    "proxy_entity_linker",
    assigns=["token.ent_kb_id", *(f"span._.pel_{name}" for name in _EXTENSIONS)],
    requires=["doc.ents"],  # or doc.spans, with spans_key, which a factory cannot tell
    default_config=DEFAULT_CONFIG,
    default_score_weights={"nel_accuracy": 1.0, **dict.fromkeys(_OTHER_SCORES)},
)
@_with_settings
def make_proxy_entity_linker(nlp: Language, name: str, **settings: Any) -> "ProxyEntityLinker":
    """Build a ProxyEntityLinker without data: ``initialize`` or ``from_disk`` loads it.

    Args:
        nlp: the pipeline.
        name: the component's name.
        settings: of LinkerSettings, and the parts:

            * encoder: architecture only. None for a generator that does not use vectors.
            * index: type only. None for a generator that does not use vectors.
            * combiner: how evidence becomes a score.
            * nil_model: how scores become the nil_score.
            * reranker: rescores the best candidates; a part of the registry pel_rankers, architecture only.
            * generator: finds the candidates; a part of the registry pel_candidates, without data. None = near the
              mention's vector, in the index.
            * scorer: called by ``nlp.evaluate``.
    """
    from .proxy_entity_linker import ProxyEntityLinker, set_precision

    linker = ProxyEntityLinker(name, **settings)
    linker.nlp, linker.configs, linker.pipeline_meta = nlp, nlp._pipe_configs, nlp.meta
    set_precision(linker.precision, [layer for _, layer in detector_layers(nlp)])
    return linker


def detector_layers(nlp: Language) -> list[tuple[str, Any]]:
    """The layers of components that a backend may run, and before each the name of its component."""
    models: list[Any] = [(name, getattr(part, "model", None)) for name, part in nlp.pipeline]
    models = [(name, model) for name, model in models if hasattr(model, "walk")]
    return [(name, shim) for name, model in models for layer in model.walk() for shim in layer.shims]


# -- colours ----------------------------------------------------------------------------------------


# the hues of page.css, light enough for black text; groups that share one differ in lightness
_COLOURS = {
    "DISO": "#e7b9dc",
    "PHEN": "#f4dfef",
    "ACTI": "#d38fc3",
    "CHEM": "#a5dccb",
    "GENE": "#d5f0e8",
    "OBJC": "#6fc2aa",
    "ANAT": "#b3d0fb",
    "PHYS": "#dbe9fe",
    "GEOG": "#86b3f7",
    "PROC": "#ddd4ae",
    "DEVI": "#efebd8",
    "OCCU": "#c5b778",
    "LIVB": "#cbb5dd",
    "CONC": "#e6dcef",
    "ORGA": "#ad8cc9",
}


@spacy_registry.displacy_colors("spacy-pel.label_colors.v1")
def label_colors() -> dict[str, str]:
    """Label of ST21pv, its id, or semantic group as a label -> colour of its group."""
    return {label: _COLOURS[label_group(label)] for label in TYPE_LABELS}

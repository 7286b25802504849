"""The component's settings and parts, each declared once: the factory's config, the constructor and the checks
follow from here."""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, ValidationError

from ..errors import Errors, PelError, Warnings, did_you_mean, quoted
from ..types.semantic_types import TYPE_LABELS, label_names
from ..util import logger


def _as_python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _not_nan(value: float) -> float:
    if np.isnan(value):
        raise ValueError
    return value


def _labels(names: list[str]) -> list[str]:
    """Warn of names that look like those of types and groups, but are not; other detectors have labels of their own."""
    for name in names:
        is_known = name in TYPE_LABELS or label_names(name) != {name}
        if not is_known and (hint := did_you_mean(name, TYPE_LABELS, cutoff=0.85)):
            logger.warning(Warnings.W511.format(got=name, hint=hint))
    return names


Flag = Annotated[bool, Strict(), BeforeValidator(_as_python)]
Text = Annotated[str, Strict()]
Labels = Annotated[list[Text], AfterValidator(_labels)]
Count = Annotated[int, Strict(), BeforeValidator(_as_python), Field(ge=1, le=1_000_000)]
Number = Annotated[float, Strict(), BeforeValidator(_as_python), AfterValidator(_not_nan)]
Share = Annotated[Number, Field(gt=0, lt=1)]
_COUNT = "a whole number from 1 to {:,}"

PARTS: dict[str, Any] = {
    "encoder": {"@pel_encoders": "spacy-pel.BiEncoder.v1"},
    "index": {"@pel_indexes": "spacy-pel.FaissIVF.v1"},
    "combiner": {"@pel_combiners": "spacy-pel.LinearCombiner.v1"},
    "nil_model": {"@pel_nil": "spacy-pel.LogisticNil.v1"},
    "reranker": None,
    "generator": None,
    "scorer": {"@scorers": "spacy-pel.nel_scorer.v1"},
}


class LinkerSettings(BaseModel):
    """The settings of the component that are no parts. They are checked whenever they are set, in a config or later.

    Attributes:
        top_k: candidates kept for each mention in ``span._.pel_candidates``.
        threshold: a mention is NIL if its nil_score is higher.
            May be a map, label -> threshold. None, or a label that is not in the map = the calibrated
            one that was saved with the component; before calibration, NIL where it is more probable than the
            first candidate, if the NIL model gives P(NIL) by default weights.
        batch_size: mentions per batch, across documents.
        coverage: ``span._.pel_set`` holds the right answer at this rate, between 0 and 1, after
            calibration. None = no sets.
        nil_share: which share of the mentions the knowledge base lacks, from 0 to 0.9, if you know it: P(NIL) and
            P(right) are shifted to it. With 0, all mentions are linked. None = as in the calibration.
        read_context: whether the encoder reads a mention in its context: "never" = by its surface form alone, or
            "always". A calibration is made for one of them: calibrate again after a change.
        precision: of the encoder, the reranker and a detector's transformer, "float32" or "bfloat16", for all batches
            from loading on. None = by the device, see ``chosen_precision``.
        form_cache: megabytes for what was found for surface forms, which is not searched again.
        overwrite: also link mentions that already have an id.
        labels_keep: labels whose mentions alone are linked, or their groups or ids of semantic types, see
            ``label_names``. None = all.
        labels_discard: labels, groups or types whose mentions are not linked.
        group_labels: replace the label of each mention by its semantic group, such as "DISORDER", when it is linked:
            that of its entity's types where they have one, or else of the label.
        max_length: word pieces that the mention tower reads; None = as in training.
        spans_key: link ``doc.spans[spans_key]``. None = ``doc.ents``.
        expand_abbreviations: replace abbreviations by their long forms before linking, where an
            earlier component has set ``doc._.abbreviations``.
        entity_types: label -> types of the KB, or ids of entities with all that is below them; applied before ranking.
        row_kinds: kinds of rows of an index that ``initialize`` builds.
        extension_prefix: the results are in ``span._.PREFIX_candidates``, ``PREFIX_nil_score``,
            ``PREFIX_id``, ``PREFIX_name``, ``PREFIX_probability`` and ``PREFIX_set``: with another prefix
            for each, several linkers keep their answers.

    Raises:
        PelError: if a value is not accepted.
    """

    model_config = ConfigDict(validate_assignment=True, extra="forbid")

    # 256 mentions with more candidates need gigabytes
    top_k: Count = Field(64, le=100_000, description=_COUNT.format(100_000))
    threshold: None | Number | dict[Text, Number] = Field(
        None, description="null, a number, or a map from label to number"
    )
    batch_size: Count = Field(256, description=_COUNT.format(1_000_000))
    coverage: Share | None = Field(None, description="null or a number between 0 and 1, such as 0.95")
    nil_share: Annotated[Number, Field(ge=0, le=0.9)] | None = Field(None, description="null or a number from 0 to 0.9")
    read_context: Literal["never", "always"] = Field("never", description="never or always")
    precision: Literal["float32", "bfloat16"] | None = Field(None, description="null, float32 or bfloat16")
    form_cache: Count = Field(64, le=100_000, description=_COUNT.format(100_000))
    overwrite: Flag = Field(True, description="true or false")
    labels_keep: Labels | None = Field(None, description="null or a list of labels")
    labels_discard: Labels = Field([], description="a list of labels")
    group_labels: Flag = Field(False, description="true or false")
    max_length: Count | None = Field(None, description=f"null or {_COUNT.format(1_000_000)}")
    spans_key: Text | None = Field(None, description="null or a key of doc.spans")
    expand_abbreviations: Flag = Field(True, description="true or false")
    entity_types: dict[Text, list[Text]] = Field({}, description="a map from label to a list of types or ids")
    row_kinds: list[Literal["card", "alias", "mention", "form"]] = Field(
        ["card", "alias"], description="a list with some of card, alias, mention, form"
    )
    extension_prefix: Annotated[Text, Field(pattern=r"^[^\W\d]\w*$")] = Field(
        "pel", description="the start of an attribute's name, such as 'pel' or 'umls'"
    )

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as err:
            raise _error(err, settings) from err

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            super().__setattr__(name, value)
        except ValidationError as err:
            raise _error(err, {name: value}) from err


def _error(err: ValidationError, settings: dict[str, Any]) -> PelError:
    name = str(err.errors()[0]["loc"][0])
    field = LinkerSettings.model_fields.get(name)
    expected = "left out, as there is no such setting" if field is None else field.description
    return PelError(Errors.E507.format(name=name, expected=expected, got=quoted(settings[name])))


# -- parts that fit together ------------------------------------------------------------------------


# setting -> registry, what a part needs to have, an example, whether it may be null
_INTERFACES: dict[str, tuple[str, tuple[str, ...], str, bool]] = {
    "encoder": ("pel_encoders", ("encode_mentions", "encode_names"), "spacy-pel.BiEncoder.v1", True),
    "index": ("pel_indexes", ("add", "search_groups"), "spacy-pel.FaissIVF.v1", True),
    "combiner": ("pel_combiners", ("__call__", "fit", "is_probability"), "spacy-pel.LinearCombiner.v1", False),
    "nil_model": ("pel_nil", ("__call__", "fit", "is_probability"), "spacy-pel.LogisticNil.v1", False),
    "generator": ("pel_candidates", ("find_candidates", "needs_encoder"), "spacy-pel.TfIdf.v1", True),
    "scorer": ("scorers", ("__call__",), "spacy-pel.nel_scorer.v1", True),
}


def check_parts(**parts: Any) -> None:
    """Check that parts can be what they are set as (a name alone, for one, cannot), and that encoder and index are set
    if, and only if, the generator needs vectors.

    Args:
        parts: by setting, those of ``_INTERFACES``. generator = None: candidates near the mention's vector.

    Raises:
        PelError: if one is something else, is missing, or would have no effect.
    """
    for setting, part in parts.items():
        registry, needed, example, optional = _INTERFACES[setting]
        if part is None and optional:
            continue
        if isinstance(part, type) or not all(hasattr(part, name) for name in needed):
            kind = f"{'null or ' if optional else ''}a part of the registry {registry}, with {', '.join(needed)}"
            facts = {"name": setting, "registry": registry, "example": example}
            raise PelError(Errors.E518.format(expected=f"{setting} to be {kind}", got=repr(part), **facts))
    generator = parts["generator"]
    kind = "no generator" if generator is None else f"the generator {generator.registered_name}"
    needs_vectors = generator is None or generator.needs_encoder
    wrong = " and ".join(name for name in ("encoder", "index") if (parts[name] is None) == needs_vectors)
    if wrong:
        raise PelError((Errors.E511 if needs_vectors else Errors.E512).format(kind=kind, parts=wrong))

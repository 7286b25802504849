"""The factory of the component. spaCy imports this file for every pipeline, so its imports stay cheap."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from spacy.language import Language

if TYPE_CHECKING:
    from .proxy_entity_linker import ProxyEntityLinker

DEFAULT_CONFIG: dict[str, Any] = {
    "top_k": 64,
    "threshold": None,
    "batch_size": 256,
    "coverage": None,
    "overwrite": True,
    "labels_keep": None,
    "labels_discard": [],
    "max_length": None,
    "spans_key": None,
    "expand_abbreviations": True,
    "entity_types": {},
    "row_kinds": ["card", "alias"],
    "reranker": None,
    "generator": None,
    "transformer": None,
    "extension_prefix": "pel",
    "encoder": {"@pel_encoders": "spacy-pel.BiEncoder.v1"},
    "index": {"@pel_indexes": "spacy-pel.FaissIVF.v1"},
    "combiner": {"@pel_combiners": "spacy-pel.LinearCombiner.v1"},
    "nil_model": {"@pel_nil": "spacy-pel.LogisticNil.v1"},
    "scorer": {"@scorers": "spacy-pel.nel_scorer.v1"},
}


@Language.factory(
    "proxy_entity_linker",
    assigns=[
        "token.ent_kb_id",
        "span._.pel_candidates",
        "span._.pel_nil_score",
        "span._.pel_id",
        "span._.pel_name",
        "span._.pel_probability",
        "span._.pel_set",
    ],
    requires=["doc.ents"],  # or doc.spans, with spans_key, which a factory cannot tell
    default_config=DEFAULT_CONFIG,
    default_score_weights={
        "nel_accuracy": 1.0,
        "nel_micro_f": None,
        "nel_micro_p": None,
        "nel_micro_r": None,
        "nel_nil_p": None,
        "nel_nil_r": None,
        "nel_nil_f": None,
    },
)
def make_proxy_entity_linker(
    nlp: Language,
    name: str,
    top_k: int,
    threshold: None | float | dict[str, float],
    batch_size: int,
    coverage: float | None,
    overwrite: bool,
    labels_keep: list[str] | None,
    labels_discard: list[str],
    max_length: int | None,
    spans_key: str | None,
    expand_abbreviations: bool,
    entity_types: dict[str, list[str]],
    row_kinds: list[Literal["card", "alias", "mention"]],
    reranker: Any | None,
    generator: Any | None,
    transformer: str | None,
    extension_prefix: str,
    encoder: Any | None,
    index: Any | None,
    combiner: Any,
    nil_model: Any,
    scorer: Callable | None,
) -> "ProxyEntityLinker":
    """Build a ProxyEntityLinker without data: ``initialize`` or ``from_disk`` loads it.

    Args:
        top_k: candidates kept for each mention in ``span._.pel_candidates``.
        threshold: a mention is NIL if its nil_score is higher.
            May be a map, label -> threshold. None, or a label that is not in the map = the calibrated
            one that was saved with the component; before calibration, NIL where it is more probable than the
            first candidate, if the NIL model gives P(NIL) by default weights.
        batch_size: mentions per batch, across documents.
        coverage: ``span._.pel_set`` holds the right answer at this rate, between 0 and 1, after
            calibration. None = no sets.
        overwrite: also link mentions that already have an id.
        labels_keep: labels whose mentions alone are linked. None = all.
        labels_discard: labels whose mentions are not linked.
        max_length: word pieces that the mention tower reads; None = as in training.
        spans_key: link ``doc.spans[spans_key]``. None = ``doc.ents``.
        expand_abbreviations: replace abbreviations by their long forms before linking, where an
            earlier component has set ``doc._.abbreviations``.
        entity_types: label -> types of the KB, applied before ranking.
        row_kinds: kinds of rows of an index that ``initialize`` builds.
        reranker: rescores the best candidates; a part of the registry pel_rankers,
            architecture only.
        generator: finds the candidates; a part of the registry
            pel_candidates, without data. None = near the mention's vector, in the index.
        transformer: name of an upstream ``transformer`` whose states mentions are read from; it
            has the weights of the encoder's mention tower, whose template is DocumentWindows. None = the encoder
            reads the text itself.
        extension_prefix: the results are in ``span._.PREFIX_candidates``, ``PREFIX_nil_score``,
            ``PREFIX_id``, ``PREFIX_name``, ``PREFIX_probability`` and ``PREFIX_set``: with another prefix
            for each, several linkers keep their answers.
        encoder: architecture only. None for a generator that does not use vectors.
        index: type only. None for a generator that does not use vectors.
        combiner: how evidence becomes a score.
        nil_model: how scores become the nil_score.
        scorer: called by ``nlp.evaluate``.
    """
    from .proxy_entity_linker import ProxyEntityLinker

    return ProxyEntityLinker(
        name,
        encoder=encoder,
        index=index,
        combiner=combiner,
        nil_model=nil_model,
        top_k=top_k,
        threshold=threshold,
        batch_size=batch_size,
        coverage=coverage,
        overwrite=overwrite,
        labels_keep=labels_keep,
        labels_discard=labels_discard,
        max_length=max_length,
        spans_key=spans_key,
        expand_abbreviations=expand_abbreviations,
        entity_types=entity_types,
        row_kinds=row_kinds,
        reranker=reranker,
        generator=generator,
        transformer=transformer,
        extension_prefix=extension_prefix,
        scorer=scorer,
    )

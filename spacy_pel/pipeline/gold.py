"""Gold mentions of a corpus as queries, prepared like those of the component."""

from typing import Callable, Dict, Iterable, List

from spacy.language import Language
from spacy.training import Example

from ..linking import MentionQuery, replace_mention
from ..types import NIL, Document, Mention
from .mentions import long_forms, spelled_out


def query_maker(
    nlp: Language, *, name: str = "proxy_entity_linker"
) -> Callable[[Document], List[MentionQuery]]:
    """Queries for the gold mentions of documents, whether or not these align with tokens.

    Abbreviations are expanded as the component does it: for that, and for that only, the
    text is tokenised and the pipeline's abbreviation detector is run.

    nlp (Language): a pipeline with the component.
    name (str): the component's name in the pipeline.
    RETURNS (Callable): document -> one query for each of its mentions, in order.
    """
    detectors = [
        proc for pipe, proc in nlp.pipeline if "doc._.abbreviations" in nlp.get_pipe_meta(pipe).assigns
    ]
    if not nlp.get_pipe(name).expand_abbreviations:  # type: ignore[attr-defined]
        detectors = []

    def make_queries(document: Document) -> List[MentionQuery]:
        text = document.text
        forms: Dict[str, str] = {}
        if detectors and document.mentions:
            doc = nlp.make_doc(text)
            for detector in detectors:
                doc = detector(doc)
            forms = long_forms(doc)
        queries = [MentionQuery(text, m.start, m.end, m.label) for m in document.mentions]
        longer = [spelled_out(query.surface, forms) for query in queries]
        return [
            query if surface is None else replace_mention(query, surface)
            for query, surface in zip(queries, longer, strict=True)
        ]

    return make_queries


def documents_of(examples: Iterable[Example]) -> List[Document]:
    """RETURNS (List[Document]): the reference documents' entities that have an id; "NIL" = no id."""
    documents = []
    for number, example in enumerate(examples):
        reference = example.reference
        mentions = [
            Mention(ent.start_char, ent.end_char, ent.label_, () if ent.kb_id_ == NIL else (ent.kb_id_,))
            for ent in reference.ents
            if ent.kb_id_
        ]
        documents.append(Document(id=str(number), text=reference.text, mentions=mentions))
    return documents

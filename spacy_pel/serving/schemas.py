"""What the server accepts and answers, as in its OpenAPI description."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from ..errors import quoted
from ..index.annotated_text import FormsInText
from ..linking import Learned
from ..linking.corrections.matching import Reach
from ..linking.explanation import CandidateEvidence, Explanation
from ..util.parsing import check_unicode

_TEXT = "Patients with rheumatoid arthritis received methotrexate."


class Request(BaseModel):
    """Unknown keys are errors, and numbers are not read from text."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _is_plain(cls, given: Any) -> Any:
        """One fault for all unknown keys, and no halves of characters, which JSON can hold but UTF-8 cannot."""
        if isinstance(given, dict) and (unknown := sorted(given.keys() - cls.model_fields.keys())):
            raise ValueError(f"unknown keys {quoted(unknown)}")
        check_unicode(given, "the request")
        return given


def example(**values: Any) -> ConfigDict:
    """The config of a request with an example for the page of the API."""
    return ConfigDict(json_schema_extra={"example": values})


OneFault = Field(fail_fast=True)  # for a list: each of its items may have several faults
Name = Annotated[str, Field(max_length=1000)]


class GivenDocument(Request):
    """A text to link, with an id of its own."""

    text: str
    id: str | int | None = Field(None, description="Default: its number in the request, from 1.")
    meta: dict[str, JsonValue] = Field({}, description="Returned as it is.")


class LinkRequest(Request):
    """One text, several texts, or documents with ids."""

    model_config = example(text=_TEXT)

    text: str | Annotated[list[str], OneFault] | None = None
    documents: Annotated[list[GivenDocument], OneFault] | None = None
    n_candidates: int = Field(5, ge=0, le=128, description="Candidates of each mention.")


class ExplainRequest(Request):
    """A mention of a text. It need not be one that the pipeline finds."""

    model_config = example(text=_TEXT, start=14, end=34)

    text: str
    start: int
    end: int
    label: Name = ""
    n_candidates: int = Field(10, ge=1, le=128)


@dataclass(kw_only=True, frozen=True)
class CandidateResponse(CandidateEvidence):
    """The evidence for a candidate, as in ``spacy_pel.linking.explanation``."""

    type_names: list[str]


@dataclass(kw_only=True, frozen=True)
class LearnedResponse(Learned, Reach):
    """A correction in the memory, and where it decides."""

    before_name: str | None
    after_name: str | None
    rival_name: str | None


@dataclass(kw_only=True, frozen=True)
class ExplainResponse(Explanation):
    """The answer for a mention, and why. ``difference`` is what puts the first candidate ahead of the second one. A
    number that JSON does not have is null."""

    learned: LearnedResponse | None
    candidates: list[CandidateResponse]  # type: ignore[assignment]
    difference: dict[str, float] = field()


class CrossReference(BaseModel):
    id: str = Field(description='A code of another vocabulary, e.g. "MESH:D001249".')
    url: str | None = Field(description="A web page about it.")


class EntityResponse(BaseModel):
    id: str
    name: str
    aliases: list[str]
    types: list[str]
    type_names: list[str] = Field(description='The types by name, e.g. "Disease or Syndrome" for "T047".')
    group: str = Field(description='The semantic group of the types, e.g. "DISO"; "" = none.')
    group_name: str = Field(description='Its name, e.g. "Disorders".')
    definition: str | None
    forms: FormsInText | None = Field(description="What annotated text calls it.")
    xrefs: list[CrossReference] = Field(description="The same concept in other vocabularies.")
    url: str | None = Field(description="A web page about it.")


class EntitiesRequest(Request):
    model_config = example(ids=["C0003873", "C0025677"])

    ids: Annotated[list[str], OneFault]


class EntitiesResponse(BaseModel):
    entities: list[EntityResponse] = Field(description="Those that there are, once each, in order.")


class FoundEntity(BaseModel):
    id: str
    name: str
    types: list[str]
    type_names: list[str]
    match: str | None = Field(description="The name that was found; null = none, but the linker takes it for similar.")


class SearchResponse(BaseModel):
    entities: list[FoundEntity]


class GivenCorrection(Request):
    """A mention and its right answer, as in the file of corrections of the command ``teach``."""

    text: str = Field(description="The whole document.")
    start: int
    end: int
    kb_id: Name = Field(description='An id of the knowledge base, or "NIL".')
    id: Name = Field("", description="Of the document, for the log.")
    label: Name = ""
    mention: str | None = Field(None, description="Compared with the text at the offsets.")
    always: bool = Field(False, description="It decides in all texts, whatever annotated text says.")


class LearnRequest(Request):
    model_config = example(corrections=[{"text": _TEXT, "start": 44, "end": 56, "kb_id": "NIL"}], by="Ann")

    corrections: Annotated[list[GivenCorrection], OneFault]
    by: str = Field("", max_length=200, description="Who corrects, for the log.")


class UnlearnRequest(Request):
    model_config = example(ids=[1])

    ids: Annotated[list[int], OneFault]
    by: str = Field("", max_length=200)


class MemoryResponse(BaseModel):
    """What is learned."""

    changed: list[LearnedResponse] = Field(description="What this request learned or undid.")
    learned: list[LearnedResponse] = Field(description="All that is in effect.")
    saved: bool = Field(description="Whether the pipeline's folder has it too.")


class ErrorResponse(BaseModel):
    detail: str

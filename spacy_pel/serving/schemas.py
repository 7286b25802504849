"""What the server accepts and answers, as in its OpenAPI description."""

from typing import Annotated, Any, Dict, List, Optional, Tuple, Union

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from ..errors import quoted

_TEXT = "Patients with rheumatoid arthritis received methotrexate."


class Request(BaseModel):
    """Unknown keys are errors, and numbers are not read from text."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, given: Any) -> Any:
        """One fault for all unknown keys: there may be hundreds of thousands."""
        if isinstance(given, dict) and (unknown := sorted(given.keys() - cls.model_fields.keys())):
            shown = quoted(unknown)
            raise PydanticCustomError("unknown_keys", "Unknown keys: {keys}", {"keys": shown})
        return given


Name = Annotated[str, Field(max_length=1000)]


class GivenDocument(Request):
    """A text to link, with an id of its own."""

    text: str
    id: Optional[Union[str, int]] = Field(None, description="Default: its number in the request, from 1.")
    meta: Dict[str, Any] = Field({}, description="Returned as it is.")


class LinkRequest(Request):
    """One text, several texts, or documents with ids."""

    model_config = ConfigDict(json_schema_extra={"example": {"text": _TEXT}})

    text: Optional[Union[str, List[str]]] = None
    documents: Optional[List[GivenDocument]] = None
    n_candidates: int = Field(5, ge=0, le=128, description="Candidates of each mention.")


class LinkedMention(BaseModel):
    """A mention, as the command ``link`` writes it."""

    start: int = Field(description="Offset of its first character.")
    end: int = Field(description="Offset after its last character.")
    text: str
    label: str
    ids: List[str] = Field(description="The id; empty for NIL.")
    kb_id: str = Field(description='An id of the knowledge base, "NIL", or "" = not looked at.')
    name: Optional[str] = Field(description="The canonical name of this id.")
    score: Optional[float] = Field(description="Of the best candidate.")
    nil_score: Optional[float] = Field(
        description="Compared with the NIL threshold; P(NIL) after calibration."
    )
    probability: Optional[float] = Field(description="P(right): the probability that the answer is correct.")
    id_set: Optional[List[str]] = Field(
        None, description="With the setting `coverage`: the answers among which the right one is."
    )
    candidates: List[Tuple[str, float]] = Field(description="Ids and scores, best first.")


class LinkedDocument(BaseModel):
    """A document, as the command ``link`` writes it."""

    id: str
    text: str
    mentions: List[LinkedMention]
    meta: Dict[str, Any]


class LinkResponse(BaseModel):
    documents: List[LinkedDocument]


class ExplainRequest(Request):
    """A mention of a text. It need not be one that the pipeline finds."""

    model_config = ConfigDict(json_schema_extra={"example": {"text": _TEXT, "start": 14, "end": 34}})

    text: str
    start: int
    end: int
    label: Name = ""
    n_candidates: int = Field(10, ge=1, le=128)


class CandidateResponse(BaseModel):
    """What speaks for a candidate."""

    id: str
    name: str
    score: float
    nearest_name: Optional[str] = Field(description="The name of the entity that is nearest to the mention.")
    name_cosine: Optional[float] = Field(description="The best cosine of its names.")
    mention_cosine: Optional[float] = Field(description="The best cosine of its annotated mentions.")
    nearest_mention: Optional[str] = Field(
        description="That mention in its context, if it is a correction; other texts are not kept."
    )
    learned: Optional[int] = Field(description="The number of that correction.")
    features: Dict[str, Optional[float]]
    contributions: Dict[str, Optional[float]]
    ranker_score: Optional[float]


class LearnedResponse(BaseModel):
    """A correction in the memory."""

    id: int
    at: str
    by: str
    doc: str
    start: int
    end: int
    text: str
    form: str
    label: str
    before: str
    before_name: Optional[str]
    after: str
    after_name: Optional[str]
    sha256: str
    read_sha256: str
    context: str


class ExplainResponse(BaseModel):
    """The answer for a mention, and why."""

    text: str = Field(description="The mention as the linker reads it.")
    written: str = Field(description="The mention as it is written.")
    context: str
    context_start: int = Field(description="Where the mention begins in the context.")
    label: str
    kb_id: str
    name: Optional[str]
    probability: float
    nil_score: float
    threshold: Optional[float] = Field(
        description="A higher nil_score is NIL. Before calibration it is the mention's own, above which NIL "
        "is more probable than the first candidate. Null: NIL only for lack of candidates."
    )
    threshold_is_own: bool = Field(description="Whether the threshold is the mention's own.")
    id_set: Optional[List[str]]
    learned: Optional[LearnedResponse] = Field(description="The correction that decides, if one does.")
    record: Optional[Dict[str, int]] = Field(
        description="How often the first candidate came first in the text of the calibration, and was right "
        "then, and the mention was NIL."
    )
    words: Optional[Dict[str, Tuple[str, int, int]]] = Field(
        description="The mention's first word, last word and ending, each with how many mentions in the "
        "text of the calibration have it, and how many of these were NIL; 0 for a part that fewer than two "
        "texts have."
    )
    weights: Dict[str, Optional[float]]
    ranker_weights: Optional[Tuple[float, float]]
    candidates: List[CandidateResponse]
    difference: Dict[str, Optional[float]] = Field(
        description="What puts the first candidate ahead of the second one."
    )


class EntityResponse(BaseModel):
    id: str
    name: str
    aliases: List[str]
    types: List[str]
    definition: Optional[str]
    url: Optional[str] = Field(description="A web page about it.")


class EntitiesRequest(Request):
    model_config = ConfigDict(json_schema_extra={"example": {"ids": ["C0003873", "C0025677"]}})

    ids: List[str]


class EntitiesResponse(BaseModel):
    entities: List[EntityResponse] = Field(description="Those that there are, once each, in order.")


class FoundEntity(BaseModel):
    id: str
    name: str
    types: List[str]
    match: Optional[str] = Field(
        description="The name that was found; null = none, but the linker takes it for similar."
    )


class SearchResponse(BaseModel):
    entities: List[FoundEntity]


class GivenCorrection(Request):
    """A mention and its right answer, as in the file of corrections of the command ``teach``."""

    text: str = Field(description="The whole document.")
    start: int
    end: int
    kb_id: Name = Field(description='An id of the knowledge base, or "NIL".')
    id: Name = Field("", description="Of the document, for the log.")
    label: Name = ""
    mention: Optional[str] = Field(None, description="Compared with the text at the offsets.")


class LearnRequest(Request):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {"corrections": [{"text": _TEXT, "start": 44, "end": 56, "kb_id": "NIL"}], "by": "Ann"}
        }
    )

    corrections: List[GivenCorrection]
    by: str = Field("", max_length=200, description="Who corrects, for the log.")


class UnlearnRequest(Request):
    model_config = ConfigDict(json_schema_extra={"example": {"ids": [1]}})

    ids: List[int]
    by: str = Field("", max_length=200)


class MemoryResponse(BaseModel):
    """What is learned."""

    changed: List[LearnedResponse] = Field(description="What this request learned or undid.")
    learned: List[LearnedResponse] = Field(description="All that is in effect.")
    saved: bool = Field(description="Whether the pipeline's folder has it too.")


class LimitsResponse(BaseModel):
    max_chars: int
    max_texts: int
    max_bytes: int
    timeout: float
    receive_timeout: float
    n_waiting: int
    n_connections: int


class HealthResponse(BaseModel):
    status: str = Field(description='"ok", or "busy": the next text would be refused.')
    version: str
    pipeline: str
    entities: int
    calibrated: bool
    saves: bool = Field(description="Whether corrections are saved in the pipeline's folder.")
    corrections: int
    waiting: int = Field(description="Requests that wait for the model.")
    limits: LimitsResponse


class ErrorResponse(BaseModel):
    detail: str

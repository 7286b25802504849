"""The texts of all groups under one name, with their codes."""

from typing import Any

from .candidates import CandidateErrors
from .commands import CommandErrors, CommandWarnings
from .component import ComponentErrors, ComponentWarnings
from .corpora import CorpusErrors, CorpusWarnings
from .general import GeneralErrors
from .indexes import IndexErrors
from .knowledge_base import KnowledgeBaseErrors, KnowledgeBaseWarnings
from .serving import ServingErrors
from .training import TrainingErrors, TrainingWarnings


class WithCodes(type):
    """Puts its code before a text: ``Errors.E001`` is "[PEL-E001] No part named …"."""

    def __getattribute__(cls, name: str) -> Any:
        value = super().__getattribute__(name)
        return value if name.startswith("_") or not isinstance(value, str) else f"[PEL-{name}] {value}"


class Errors(
    GeneralErrors,
    KnowledgeBaseErrors,
    CorpusErrors,
    TrainingErrors,
    IndexErrors,
    CandidateErrors,
    ComponentErrors,
    CommandErrors,
    ServingErrors,
    metaclass=WithCodes,
):
    """Texts of PelError, to be filled by ``str.format``."""


class Warnings(
    KnowledgeBaseWarnings, CorpusWarnings, TrainingWarnings, ComponentWarnings, CommandWarnings, metaclass=WithCodes
):
    """Texts of warnings, and of log messages that users should see."""

"""The texts of all groups under one name."""

from .candidates import CandidateErrors
from .commands import CommandErrors, CommandWarnings
from .component import ComponentErrors, ComponentWarnings
from .corpora import CorpusErrors, CorpusWarnings
from .general import GeneralErrors
from .indexes import IndexErrors
from .knowledge_base import KnowledgeBaseErrors, KnowledgeBaseWarnings
from .reports import ReportErrors
from .serving import ServingErrors
from .training import TrainingErrors, TrainingWarnings


class Errors(
    GeneralErrors,
    KnowledgeBaseErrors,
    CorpusErrors,
    TrainingErrors,
    IndexErrors,
    CandidateErrors,
    ComponentErrors,
    CommandErrors,
    ReportErrors,
    ServingErrors,
):
    """Texts of PelError, to be filled by ``str.format``."""


class Warnings(KnowledgeBaseWarnings, CorpusWarnings, TrainingWarnings, ComponentWarnings, CommandWarnings):
    """Texts of warnings, and of log messages that users should see."""

"""Many trainings that differ in one thing each: what does each part of a method bring?"""

from .plan import StudyRun, StudySettings, plan_study
from .run import run_study

__all__ = ["StudyRun", "StudySettings", "plan_study", "run_study"]

"""Ablations: many trainings that differ in one setting each, to measure what each part contributes."""

from .plan import StudyRun, StudySettings, plan_corpora, plan_study, select_runs
from .run import run_study

__all__ = ["StudyRun", "StudySettings", "plan_corpora", "plan_study", "run_study", "select_runs"]

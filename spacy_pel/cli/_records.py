"""Linked mentions in the output format of the commands."""

from ..pipeline.records import mention_record

__all__ = ["mention_record"]

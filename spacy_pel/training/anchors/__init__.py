"""Anchors: the vectors that represent the mentions of one entity in one document in the loss."""

from .anchor_part import AnchorPart, Anchors

__all__ = ["AnchorPart", "Anchors"]

"""Anchors: what stands for the mentions of one entity in one document before the loss."""

from .anchor_part import AnchorPart, Anchors

__all__ = ["AnchorPart", "Anchors"]

"""The data of the training tests."""

from training.conftest import data

__all__ = ["data"]

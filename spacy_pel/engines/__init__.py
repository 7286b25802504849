"""Linking large corpora: what links a batch, and the engines that call it, one file each."""

from .batch import batch_schema, link_batch
from .job import Engine, LinkJob

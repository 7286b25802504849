"""Linking large corpora: what links a batch, and the engines that call it, one file each."""

from ..corpora.formats.tables import link_schema as batch_schema
from .batch import link_batch, link_dataframe
from .job import Engine, LinkJob

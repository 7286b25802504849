"""The group ``research``, which the entry point of the same name adds to the command line."""

from spacy_pel.cli._app import command_group

research_cli = command_group("research", "Studies, sweeps and figures of the papers.", panel="Research")

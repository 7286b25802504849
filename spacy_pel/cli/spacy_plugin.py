"""Gives ``python -m spacy pel ...``: spaCy imports this module through the entry point
group ``spacy_cli`` before it reads its command line."""

from spacy.cli._util import app

from . import pel_cli

app.add_typer(pel_cli, name="pel")

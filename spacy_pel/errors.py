"""All error and warning texts: what was expected, what came, what to do.

Codes: 0xx general, 1xx knowledge base, 2xx corpora, 3xx text, encoders and training,
4xx index and combiners, 5xx component, 6xx evaluation and command line.
"""


class PelError(ValueError):
    """A user-facing error with a code. The command line prints its text and exits with 2."""


class Errors:
    """Texts of PelError, to be filled by ``str.format``."""

    # general
    E001 = (
        "[PEL-E001] No part named '{name}' in the registry '{registry}'. Known: {known}. "
        "Check the spelling, or register the part with an entry point."
    )
    E002 = "[PEL-E002] Expected {expected} at {path}, but {came}. {todo}"
    E003 = (
        "[PEL-E003] '{feature}' needs the package '{package}', which is not installed. "
        "Install it with: pip install 'spacy-pel[{extra}]'"
    )
    # knowledge base: E100-E199
    # corpora: E200-E299
    # text, encoders, training: E300-E399
    # index, combiners: E400-E499
    # component: E500-E599
    # evaluation, command line: E600-E699


class Warnings:
    """Texts of warnings and log messages that name something the user should know."""

    # knowledge base: W100-W199
    # corpora: W200-W299
    # text, encoders, training: W300-W399
    # index, combiners: W400-W499
    # component: W500-W599
    # evaluation, command line: W600-W699

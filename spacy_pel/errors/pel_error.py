"""The only exception that users see."""


class PelError(ValueError):
    """A user-facing error with a code. The command line prints its text and exits with 2."""

"""``python -m spacy_pel``: the same as ``spacy-pel``."""

from .cli import main

if __name__ == "__main__":
    main()

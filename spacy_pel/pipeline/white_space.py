"""White space between the words of a text: hard-wrapped lines, no-break spaces, paragraphs."""

from typing import List

from spacy.tokens import Doc, Token


def has_blank_line(text: str) -> bool:
    """RETURNS (bool): whether there is a line without words between two lines of a text."""
    return any(not line.strip() for line in f"x{text}x".splitlines())


def ends_paragraph(token: Token) -> bool:
    """RETURNS (bool): whether the token is white space with a blank line, which no name goes across."""
    return bool(token.is_space) and has_blank_line(token.text)


def words_of(doc: Doc) -> List[int]:
    """RETURNS (List[int]): the tokens that are words or the end of a paragraph. A name may be wrapped, or
    have two blanks in it: white space that is a token of its own, but says nothing."""
    return [token.i for token in doc if not token.is_space or ends_paragraph(token)]

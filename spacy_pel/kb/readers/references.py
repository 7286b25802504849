"""Character references of XML and HTML in names, such as &#945; and &amp;."""

import html
import re

_NUMBER = re.compile(r"&#(?:[xX]([0-9a-fA-F]+)|([0-9]+))")


def unescape(text: str) -> str:
    """Replace character references by their characters.

    Args:
        text: a name or a definition.

    Returns:
        The text; unknown names of references stay.

    Raises:
        ValueError: if a number is none of a Unicode character.
    """
    if "&" not in text:
        return text
    for match in _NUMBER.finditer(text):
        digits = (match[1] or match[2]).lstrip("0")
        code = int(digits, 16 if match[1] else 10) if len(digits) < 8 else 0x110000
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise ValueError(f"{match[0][:20]}, which is no character")
    return html.unescape(text)

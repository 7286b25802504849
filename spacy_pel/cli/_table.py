"""Plain tables for the terminal."""

from typing import List, Sequence


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """RETURNS (str): aligned columns, the first to the left and the others to the right."""
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    lines: List[str] = []
    for row in table:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)

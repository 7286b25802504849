"""Tables of paired differences that benchmarks print."""

from rich.table import Table

from spacy_pel.evaluation.metrics.bootstrap import Difference


def table_of_differences(
    found: dict[str, dict[str, Difference]], counts: dict[str, int], *, what: str, title: str
) -> Table:
    """Show how each of several systems does, and how far it is from the first.

    Args:
        found: for each system its shares, against those of the first.
        counts: for each share, of how many mentions.
        what: what a system is, "encoder".

    Returns:
        A row for each system, a column for each share.
    """
    table = Table(title=title)
    table.add_column(what)
    for name, n in counts.items():
        table.add_column(f"{name} ({n:,})", justify="right")
    for number, (system, row) in enumerate(found.items()):
        table.add_row(system, *(_cell(one, first=not number) for one in row.values()))
    return table


def _cell(one: Difference, *, first: bool) -> str:
    level = f"{100 * one.b:.1f}"
    return level if first else f"{level}, {one.in_points}"

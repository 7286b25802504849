"""One style for all figures: colours, grid, legend. The same data gives the same bytes."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...errors import Errors, PelError
from ...util import atomic_path

try:
    from matplotlib import rc_context
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError as err:  # on import, so that a command fails before its work, not after it
    raise PelError(Errors.E003.format(feature="Drawing figures", package="matplotlib", extra="report")) from err

# Okabe and Ito's colour-blind safe palette, ordered so that neighbours also differ in lightness
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#595959")
LINE_STYLES = ("-", "--", ":", "-.", "--", ":", "-.")  # report.css has the same for the names of the runs
GREY = "#999999"  # axes and grid lines
# what report.css calls these colours, which differ between a light and a dark page
_PAGE_COLORS = {
    **{color: f"var(--s{number})" for number, color in enumerate(COLORS)},
    **{"#000000": "var(--quiet)", "#b0b0b0": "var(--quiet)", GREY: "var(--quiet)", "#ffffff": "var(--page)"},
}


def new_figure(*, width: float = 6.0, height: float = 4.0) -> tuple[Figure, Axes]:
    """Start a figure with one set of axes.

    Args:
        width, height: inches, at 120 dots per inch.

    Returns:
        Draw into the axes, then call ``save_figure``.
    """
    figure, panels = new_panels(1, width=width, height=height)
    return figure, panels[0]


def new_panels(n: int, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Start a figure with several sets of axes side by side.

    Args:
        n: number of sets.
        width, height: of the whole figure, as in ``new_figure``.

    Returns:
        Draw into the axes, then call ``save_figure``.
    """
    # no pyplot: it would choose a backend for the whole process and keep the figure alive
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    panels = [figure.add_subplot(1, n, number + 1) for number in range(n)]
    for axes in panels:
        axes.set_prop_cycle(color=COLORS)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        axes.grid(alpha=0.3)
    return figure, panels


def save_figure(figure: Figure, axes: Axes, *paths: Path) -> None:
    """Add the legend and write the figure.

    figure, axes: as ``new_figure`` gave them; of several axes the one with the legend.

    Args:
        paths: files to write; their names end in .png or .svg.
    """
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    for path in paths:
        # neither the time nor random ids in the file
        metadata = {"Software": None} if path.suffix == ".png" else {"Date": None}
        with rc_context({"svg.hashsalt": "spacy-pel"}), atomic_path(path) as part:
            figure.savefig(part, format=path.suffix[1:], metadata=metadata)


def inline_svg(figure: Figure, name: str, *, title: str) -> Markup:
    """Render a figure as SVG for a page with report.css, which sets its colours and font.

    Args:
        figure: without a legend; the page names the runs.
        name: goes into the ids, so that those of two figures on a page differ.
        title: read aloud in place of the figure.

    Returns:
        One <svg> element; the same for the same data.
    """
    file = StringIO()
    settings: Any = {"svg.hashsalt": "spacy-pel", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}
    with rc_context(settings):
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=True, metadata=no_metadata)
    svg = re.sub(r"^.*?(?=<svg)|<defs>\s*<style.*?</defs>", "", file.getvalue(), flags=re.DOTALL)
    svg = re.sub(r"#[0-9a-f]{6}\b", lambda found: _PAGE_COLORS.get(found[0], found[0]), svg)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    label = Markup('<svg role="img" aria-label="{}"').format(title)
    return Markup(svg.replace("<svg", label, 1))  # matplotlib has escaped the texts

"""One look for all figures: colours, grid, legend; saved atomically, the same bytes for the same data."""

from pathlib import Path
from typing import TYPE_CHECKING, List, Tuple

from ...util import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's, in an order whose neighbours differ in lightness too; told apart by the colour blind
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#595959")


def new_figure(*, width: float = 6.0, height: float = 4.0) -> Tuple["Figure", "Axes"]:
    """Start a figure with one set of axes.

    width, height (float): inches, at 120 dots an inch.
    RETURNS (Tuple[Figure, Axes]): draw into the axes, then call ``save_figure``.
    """
    figure, panels = new_panels(1, width=width, height=height)
    return figure, panels[0]


def new_panels(n: int, *, width: float, height: float) -> Tuple["Figure", List["Axes"]]:
    """Start a figure with several sets of axes side by side.

    n (int): how many.
    width, height (float): of the whole figure, as in ``new_figure``.
    RETURNS (Tuple[Figure, List[Axes]]): draw into the axes, then call ``save_figure``.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # no pyplot: it would choose a backend for the whole process and keep the figure alive
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    panels = [figure.add_subplot(1, n, place + 1) for place in range(n)]
    for axes in panels:
        axes.set_prop_cycle(color=COLORS)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels


def save_figure(figure: "Figure", axes: "Axes", *paths: Path) -> None:
    """Add grid and legend and write the figure.

    figure, axes: as ``new_figure`` gave them; of several axes the one with the legend.
    paths (Path): files to write; their names end in .png or .svg.
    """
    from matplotlib import rc_context

    for each in figure.axes:
        each.set_axisbelow(True)
        each.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    for path in paths:
        # neither the time nor random ids in the file
        metadata = {"Software": None} if path.suffix == ".png" else {"Date": None}
        with rc_context({"svg.hashsalt": "spacy-pel"}), atomic_path(path) as part:
            figure.savefig(part, format=path.suffix[1:], metadata=metadata)

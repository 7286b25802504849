"""Numbers that a part accepts."""

from ..errors import Errors, PelError

MANY = 1_000_000  # of anything that a setting counts; more would not fit in memory


def check_range(
    name: str,
    value: float | None,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> None:
    """Check a setting.

    Args:
        name: of the setting.
        value: NaN is outside every range; None is not checked.
        least, most: smallest and largest accepted value.
        above, below: the same, themselves not accepted.

    Raises:
        PelError: if the value is outside the range.
    """
    if value is None:
        return
    bounds = [(">=", least), (">", above), ("<=", most), ("<", below)]
    accepted = {
        ">=": least is None or value >= least,
        ">": above is None or value > above,
        "<=": most is None or value <= most,
        "<": below is None or value < below,
    }
    if not all(accepted.values()):
        wanted = " and ".join(f"{sign} {bound:,}" for sign, bound in bounds if bound is not None)
        raise PelError(Errors.E301.format(name=name, wanted=wanted, value=value))

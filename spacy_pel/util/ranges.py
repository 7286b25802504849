"""Numbers that a part accepts."""

import operator

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
    rules = [
        (">=", operator.ge, least),
        (">", operator.gt, above),
        ("<=", operator.le, most),
        ("<", operator.lt, below),
    ]
    given = [(sign, holds, bound) for sign, holds, bound in rules if bound is not None]
    if not all(holds(value, bound) for _, holds, bound in given):
        wanted = " and ".join(f"{sign} {bound:,}" for sign, _, bound in given)
        raise PelError(Errors.E301.format(name=name, wanted=wanted, value=value))

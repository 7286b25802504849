"""Numbers outside the range of a setting are refused in one sentence."""

import pytest

from spacy_pel.errors import PelError
from spacy_pel.util.config import check_range


@pytest.mark.parametrize(
    ("value", "bounds", "said"),
    [
        (-1, {"least": 0}, "Expected n >= 0, got -1."),
        (1.5, {"least": 0, "most": 1}, "Expected n >= 0 and <= 1, got 1.5."),
        (0, {"above": 0, "most": 10_000}, "Expected n > 0 and <= 10,000, got 0."),
        (1, {"least": 0, "below": 1}, "Expected n >= 0 and < 1, got 1."),
        (float("nan"), {"least": 0}, "got nan"),
        (float("nan"), {"most": 0}, "got nan"),
        (float("inf"), {"least": 0, "most": 1}, "got inf"),
    ],
)
def test_refused(value, bounds, said):
    with pytest.raises(PelError) as error:
        check_range("n", value, **bounds)
    assert said in str(error.value)


@pytest.mark.parametrize("value", [None, 0, 1, 0.5])
def test_accepted(value):
    check_range("n", value, least=0, most=1)

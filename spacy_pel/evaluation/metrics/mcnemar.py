"""McNemar's test: do two runs differ in how many mentions they get right?"""

from typing import NamedTuple

from .outcomes import Flags

LEVEL = 0.05
EXACT_BELOW = 25  # discordant pairs; the chi-square approximation is poor with fewer


class McNemar(NamedTuple):
    """Result of the test.

    Attributes:
        n_both, n_only_a, n_only_b, n_neither: mentions that both runs, only one or none got right.
        test: "exact binomial" or "chi-square".
        statistic: chi-square, or for the exact test the smaller discordant count.
        p_value: two-sided.
        significant: the p-value is below 0.05.
    """

    n_both: int
    n_only_a: int
    n_only_b: int
    n_neither: int
    test: str
    statistic: float
    p_value: float

    @property
    def significant(self) -> bool:
        return self.p_value < LEVEL


def mcnemar(a_right: Flags, b_right: Flags) -> McNemar:
    """Test two runs on the same mentions (McNemar 1947): under the null hypothesis a mention that one run
    alone got right is as likely to be A's as B's.

    With b and c such mentions: if b + c is below 25 the exact binomial test, else
    chi-square = (|b - c| - 1)^2 / (b + c) with one degree of freedom (Edwards' continuity correction; 0
    if b = c). The test assumes independent mentions. Mentions of one document are not, so its p-value is too
    small where errors cluster in documents; use ``bootstrap`` there.

    Args:
        a_right, b_right: (n,), the same mentions in the same order.

    Returns:
        Counts, statistic and p-value; 1 where the runs never differ.
    """
    from scipy.stats import binomtest, chi2

    only_a, only_b = int((a_right & ~b_right).sum()), int((b_right & ~a_right).sum())
    n_discordant = only_a + only_b
    if n_discordant < EXACT_BELOW:
        test, statistic = "exact binomial", float(min(only_a, only_b))
        p_value = float(binomtest(int(statistic), n_discordant).pvalue) if n_discordant else 1.0
    else:
        test = "chi-square"
        statistic = max(0, abs(only_a - only_b) - 1) ** 2 / n_discordant
        p_value = float(chi2.sf(statistic, 1))
    n_both, n_neither = int((a_right & b_right).sum()), int((~a_right & ~b_right).sum())
    return McNemar(n_both, only_a, only_b, n_neither, test, statistic, p_value)

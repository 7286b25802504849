from .frequency_prior import FrequencyPrior
from .run import PEERS, run_peers
from .scispacy_linker import Answer, ScispacyLinker

__all__ = ["PEERS", "Answer", "FrequencyPrior", "ScispacyLinker", "run_peers"]

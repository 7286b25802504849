from benchmarks.peers.frequency_prior import FrequencyPrior
from benchmarks.peers.run import PEERS, run_peers
from benchmarks.peers.scispacy_linker import Answer, ScispacyLinker

__all__ = ["PEERS", "Answer", "FrequencyPrior", "ScispacyLinker", "run_peers"]

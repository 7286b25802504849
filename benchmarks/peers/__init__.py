from benchmarks.peers.frequency_prior import FrequencyPrior
from benchmarks.peers.nearest_name import NearestName
from benchmarks.peers.run import PEERS, Peer, PeerRun, Peers, run_peer
from benchmarks.peers.scispacy_linker import Answer, ScispacyLinker

__all__ = ["PEERS", "Answer", "FrequencyPrior", "NearestName", "Peer", "PeerRun", "Peers", "ScispacyLinker", "run_peer"]

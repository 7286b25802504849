"""Training: the loop, checkpoints and logs; bi-encoders in ``retriever``, rankers in ``ranker``."""

"""What users corrected: a log of learned mentions, and how these count."""

from .learned import Correction, Learned
from .memory import Memory

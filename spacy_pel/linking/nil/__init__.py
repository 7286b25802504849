from .logistic import LogisticNil
from .network import NetworkNil

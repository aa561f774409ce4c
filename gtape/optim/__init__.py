"""Optimizers: rules that turn gradients into new values of variables.

`Optimizer` is the frame (slots, options, `apply_gradients`); each rule has a file.
"""

from gtape.optim.adadelta import Adadelta
from gtape.optim.adagrad import Adagrad
from gtape.optim.adam import Adam
from gtape.optim.optimizer import Optimizer
from gtape.optim.rmsprop import RMSProp, RMSprop
from gtape.optim.sgd import SGD
from gtape.optim.slots import Slots

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "Optimizer",
    "RMSProp",
    "RMSprop",
    "Slots",
]

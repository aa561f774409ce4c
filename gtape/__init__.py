"""gtape: differentiates and compiles ordinary Python."""

from gtape._version import __version__
from gtape.dtypes import *
from gtape.dtypes import bool_ as bool
from gtape.eager import EagerTensor
from gtape.ops.arithmetic import *
from gtape.ops.linear import *
from gtape.ops.logic import *
from gtape.ops.math import *
from gtape.ops.shaping import *
from gtape.ops.slicing import *
from gtape.tape import GradientTape
from gtape.tensor import Tensor
from gtape.variable import Variable

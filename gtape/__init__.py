"""gtape: differentiates and compiles ordinary Python."""
from gtape._version import __version__
from gtape import errors, nest
from gtape.dtypes import *
from gtape.dtypes import bool_ as bool
from gtape.spec import TensorShape, TensorSpec
from gtape.ops.shaping import *
from gtape.ops.linear import *
from gtape.ops.slicing import *
from gtape.ops.arithmetic import *
from gtape.ops.logic import *
from gtape.ops.math import *
from gtape.ops.linalg import matmul
from gtape.eager import EagerTensor
from gtape.tensor import Tensor
from gtape.variable import Variable
from gtape.tape import GradientTape, UnconnectedGradients
from gtape.forward import ForwardAccumulator, jvp
from gtape.custom import custom_gradient, recompute_grad, grad_pass_through
from gtape.transforms import *
newaxis = None

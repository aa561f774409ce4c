"""Every public function, given rubbish in every place: a gtape error or a result.

Never an error of NumPy or of Python from inside gtape, never a stray warning, and the
place of the error is always the line of the call.
"""

import inspect
import itertools
import operator
import warnings

import pytest

import gtape as gt
from gtape import errors

RUBBISH = {
    "str": "text",
    "none": None,
    "object": object(),
    "dict": {"a": 1},
    "negative": -1,
    "huge": 10**30,
    "empty": [],
    "ragged": [[1.0], [1.0, 2.0]],
    "nan": float("nan"),
    "true": True,
    "function": lambda *args, **kwargs: None,
    "matrix": gt.ones([2, 3]),
    "ints": gt.constant([1, 2]),
    "bools": gt.constant([True]),
    "complex": gt.constant(1j),
    "half": gt.ones([3], gt.float16),
    "bfloat16": gt.ones([2], gt.bfloat16),
}

# Beside the rubbish stand arguments that many functions like.
FINE = {
    "matrix": gt.ones([2, 3]),
    "ints": gt.constant([1, 0]),
    "square": gt.constant([[2.0, 1.0], [1.0, 3.0]]),
    "number": 2,
}

# These print, or change a setting for all that follows, or are made by gtape only.
LEFT_OUT = {"print", "set_default_float", "set_seed", "DType", "TensorShape"}
LEFT_OUT |= {"enable_check_numerics", "disable_check_numerics"}


def public_functions():
    """The functions of the public modules: those that show an example of use."""
    for module in (gt, gt.nn, gt.linalg, gt.random, gt.debugging, gt.optim):
        for name, value in sorted(vars(module).items()):
            if name.startswith("_") or name in LEFT_OUT or not callable(value):
                continue
            document = inspect.getdoc(value) or ""
            if "import gtape as gt" in document and not inspect.isabstract(value):
                yield pytest.param(value, id=f"{module.__name__}.{name}")


FUNCTIONS = list(public_functions())


def attempt(function, *args, **kwargs):
    """Call a function that may raise a gtape error, and nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", gt.GradientWarning)
        try:
            function(*args, **kwargs)
        except errors.GtapeError as error:
            assert error.origin.file == __file__  # noqa: PT017
            assert error.origin.function == "attempt"  # noqa: PT017
            assert error.hint or isinstance(error, errors.CheckError)  # noqa: PT017
            assert "\n" not in str(error)  # noqa: PT017


def parameters_of(function):
    parameters = inspect.signature(function).parameters.values()
    named = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    required = [p.name for p in named if p.default is p.empty]
    optional = [p.name for p in parameters if p.default is not p.empty]
    return required, optional


@pytest.mark.parametrize("function", FUNCTIONS)
def test_rubbish_everywhere(function):
    required, _ = parameters_of(function)
    for value in RUBBISH.values():
        attempt(function, *[value] * len(required))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_rubbish_in_one_place(function):
    required, optional = parameters_of(function)
    for fine, value in itertools.product(FINE.values(), RUBBISH.values()):
        for place in range(len(required) if len(required) > 1 else 0):
            args = [fine] * len(required)
            args[place] = value
            attempt(function, *args)
    for name in optional:
        for value in RUBBISH.values():
            attempt(function, *[FINE["matrix"]] * len(required), **{name: value})


OPERATORS = [
    *[operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv],
    *[operator.mod, operator.pow, operator.matmul, operator.and_, operator.or_],
    *[operator.xor, operator.lshift, operator.rshift, operator.lt, operator.le],
    *[operator.eq, operator.ne, operator.gt, operator.ge, divmod],
]

OPERANDS = {
    "tensor": lambda: gt.ones([2, 3]),
    "scalar": lambda: gt.constant(2.0),
    "variable": lambda: gt.Variable([1.0, 2.0]),
    "integer": lambda: gt.Variable(3),
    "slice": lambda: gt.Variable([[1.0, 2.0]])[0],
    "slices": lambda: gt.IndexedSlices([1.0, 2.0], [0, 1], [3]),
}

each_operand = pytest.mark.parametrize("make", OPERANDS.values(), ids=OPERANDS)


@each_operand
@pytest.mark.parametrize("function", OPERATORS)
def test_rubbish_beside_an_operator(function, make):
    for value in RUBBISH.values():
        attempt(function, make(), value)
        attempt(function, value, make())


@each_operand
def test_rubbish_as_an_index(make):
    for key in RUBBISH.values():
        attempt(operator.getitem, make(), key)
        attempt(operator.contains, make(), key)
        attempt(operator.getitem, make(), (key, ...))
        attempt(operator.getitem, make(), slice(key, None))


@pytest.mark.parametrize("name", ["tensor", "variable"])
def test_rubbish_in_an_item(name):
    for key, value in itertools.product(RUBBISH.values(), RUBBISH.values()):
        attempt(operator.setitem, OPERANDS[name](), key, value)
        attempt(operator.setitem, OPERANDS[name](), 0, value)


def recorded():
    v = gt.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with gt.GradientTape(persistent=True) as tape:
        v * 2.0
    return tape


OBJECTS = {
    "Variable": lambda: gt.Variable(gt.ones([2, 3])),
    "GradientTape": recorded,
    "IndexedSlices": OPERANDS["slices"],
    "ForwardAccumulator": lambda: gt.ForwardAccumulator(gt.ones([2]), gt.ones([2])),
    "Generator": lambda: gt.random.Generator.from_seed(1),
    "Module": gt.Module,
    "slice": OPERANDS["slice"],
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_rubbish_for_a_method(kind):
    for name in dir(OBJECTS[kind]()):
        if name.startswith("_") or not callable(getattr(OBJECTS[kind](), name)):
            continue
        required, optional = parameters_of(getattr(OBJECTS[kind](), name))
        for value in RUBBISH.values():
            method = getattr(OBJECTS[kind](), name)
            attempt(method, *[value] * len(required))
            for place in range(len(required)):
                args = [FINE["matrix"]] * len(required)
                args[place] = value
                attempt(method, *args)
            for option in optional:
                args = [FINE["matrix"]] * len(required)
                attempt(method, *args, **{option: value})

"""The rules of ARCHITECTURE.md as code.

The rules about imports, sizes and words read the source alone, with `ast`; the rules
about the public surface import gtape. A new module is entered in ROWS first.
"""

import ast
import functools
import graphlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# A module imports from rows above its own and, within its row, from names to its left.
# `name.*` stands for a package and all it holds, in free order but without cycles. A
# plain name is that module alone. Planned modules may stand here before they exist.
ROWS = {
    0: "_version lazy errors config dtypes nest philox",
    1: "atoms sizes conversion spec scalar lowering primitive dispatch",
    2: """
        ops.known ops.common ops.shaping ops.linear ops.slicing ops.precision
        ops.arithmetic ops.extrema ops.logic ops.math ops.rounding ops.trig ops.special
        ops.creation ops.ranges ops.measures ops.padding
        ops.indices ops.index_write ops.keys ops.indexing ops.gathering
        ops.scattering ops.rearranging ops.sorting ops.searching
        ops.scanning ops.reduction ops.discrete ops.logsumexp ops.norms
        ops.segmented ops.segment
        ops.diagonal ops.linalg ops.contraction ops.einsum ops.solving
        ops.determinant ops.factorization ops.spectral ops.norm
        ops.softmax ops.activations ops.cross_entropy ops.normalizing
        ops.windows ops.convolving ops.convolution ops.pools ops.pooling
        ops.draws ops.distributions ops.states ops.generator ops.stateless
        ops.random ops.dropout ops.nn
        ops.printing ops.numerics ops.checks ops.shape_checks ops.debugging
        ops.traced ops.carry ops.control ops.folds
        ops.numpy_functions ops.numpy_protocol ops
    """,
    3: "bitwise linalg math tensor eager interpreter indexed_slices scatter variable",
    4: """
        batching vectorize record backprop explain jacobians tape forward rules
        recompute custom
        transforms gradients testing module
    """,
    5: "jit.syntax.*",
    6: """
        jit.graph.text jit.graph.attrs jit.graph.printer jit.graph.tokens
        jit.graph.reader jit.graph.ir jit.graph.parse jit.graph.stacks
        jit.graph.verify jit.graph.interpret jit.graph.rewrite jit.graph.builder
        jit.graph.resize jit.graph.replay jit.graph
    """,
    7: """
        jit.tracing.symbol jit.tracing.region jit.tracing.number jit.tracing.state
        jit.tracing.tracer jit.tracing.kinds jit.tracing.packing jit.tracing.aliases
        jit.tracing.containers
        jit.tracing
        jit.control.structure jit.control.pull jit.control.cond jit.control.loops
        jit.control.loop_rules jit.control.custom_rule jit.control
        jit.hooks.guards jit.hooks.changing jit.hooks.captures
        jit.hooks.users jit.hooks.reads jit.hooks.operators
        jit.hooks.branches jit.hooks.sequences jit.hooks.lists jit.hooks.attempts
        jit.hooks.loops jit.hooks.fors jit.hooks.functional
        jit.hooks.effects jit.hooks.comprehensions jit.hooks.functions
        jit.hooks.host jit.hooks.calls jit.hooks.facade jit.hooks
    """,
    8: "jit.passes.*",
    9: "jit.schedule.* jit.codegen.* jit.backend.*",
    10: """
        jit.services jit.reverse jit.gradient jit.results jit.signature jit.specs
        jit.shapes jit.arguments jit.writes jit.concrete jit.quick jit.checking
        jit.explaining jit.reflection jit.methods jit.function jit
    """,
    11: "optim.*",
    12: "train.*",
    13: "gtape __main__",
}

# These packages see less than their row would allow: nothing below the row given.
LOWEST_ROW_SEEN = {"gtape.optim": 4}

# The only packages that may import these libraries.
HOMES = {
    "numba": ("gtape.jit.backend",),
    "llvmlite": ("gtape.jit.backend", "gtape.jit.codegen"),
}

# Libraries that `import gtape` leaves alone, so that it stays quick.
NOT_AT_START = {"llvmlite", "matplotlib", "numba", "opt_einsum", "scipy"}

FILE_LINES = 400
FUNCTION_LINES = 60
# Exceptions with their present size. They may only shrink, and go when not needed.
LONG_FILES: dict[str, int] = {"gtape": 490}  # the public surface, name by name
LONG_FUNCTIONS: dict[str, int] = {}  # "gtape.ops.nn.conv2d": 64


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    path: Path
    tree: ast.Module
    length: int

    def at(self, line: int) -> str:
        return f"{self.path.relative_to(ROOT)}:{line}"


@dataclass(frozen=True)
class Import:
    """One imported module: where it stands and what stands around it."""

    importer: Module
    target: str
    line: int
    in_function: bool
    for_types: bool  # under `if TYPE_CHECKING:`, so it never runs

    def __str__(self) -> str:
        return f"{self.importer.at(self.line)}: {self.importer.name} -> {self.target}"


@functools.cache
def modules() -> dict[str, Module]:
    """Parse every file of the package, once."""
    found = {}
    for path in sorted((ROOT / "gtape").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        source = path.read_text(encoding="utf-8")
        found[name] = Module(name, path, ast.parse(source), source.count("\n"))
    return found


def is_for_types(node: ast.If) -> bool:
    return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


class ImportCollector(ast.NodeVisitor):
    """Lists what a module imports."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.found: list[Import] = []
        self.in_function = False
        self.for_types = False

    def add(self, target: str, line: int) -> None:
        while within(target, "gtape") and target not in modules():
            target = target.rpartition(".")[0]  # a name inside a module
        where = (self.module, target, line)
        self.found.append(Import(*where, self.in_function, self.for_types))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.add(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parents = self.module.name.split(".")
            up = node.level - (self.module.path.name == "__init__.py")
            parents = parents[: len(parents) - up]
            base = ".".join([*parents, base] if base else parents)
        for alias in node.names:
            self.add(f"{base}.{alias.name}", node.lineno)

    def visit_Call(self, node: ast.Call) -> None:
        # These import what their first argument names, at once or later.
        called = getattr(node.func, "attr", getattr(node.func, "id", None))
        if called in ("import_module", "__import__", "Lazy") and node.args:
            self.add(str(getattr(node.args[0], "value", "")), node.lineno)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        before = self.for_types
        for part in (node.test, *node.body, *node.orelse):
            self.for_types = before or (part in node.body and is_for_types(node))
            self.visit(part)
        self.for_types = before

    def visit_function(self, node: ast.AST) -> None:
        before, self.in_function = self.in_function, True
        self.generic_visit(node)
        self.in_function = before

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_function


@functools.cache
def imports() -> tuple[Import, ...]:
    """Give every import of every module."""
    collectors = [ImportCollector(module) for module in modules().values()]
    for collector in collectors:
        collector.visit(collector.module.tree)
    return tuple(found for collector in collectors for found in collector.found)


def running_own_imports() -> list[Import]:
    """Give the imports of gtape in gtape that take place when a module loads."""
    return [i for i in imports() if i.target in modules() and not i.for_types]


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@functools.cache
def place(name: str) -> tuple[int, int] | None:
    """Return row and column of a module in ROWS; the most exact entry counts."""
    entries = {
        entry: (row, column)
        for row, names in ROWS.items()
        for column, entry in enumerate(names.split())
    }
    name = name.removeprefix("gtape.")
    if name in entries:
        return entries[name]
    while name:
        if f"{name}.*" in entries:
            return entries[f"{name}.*"]
        name = name.rpartition(".")[0]
    return None


def check(faults: Iterable[object]) -> None:
    if text := "\n".join(map(str, faults)):
        pytest.fail(text, pytrace=False)


def test_rows_name_each_module_once() -> None:
    entries = " ".join(ROWS.values()).split()
    check(f"{e}: listed twice" for e in set(entries) if entries.count(e) > 1)
    check(f"{m.name}: not in ROWS" for m in modules().values() if not place(m.name))


def test_imports_go_up_or_left() -> None:
    faults = []
    for found in running_own_imports():
        here, there = place(found.importer.name), place(found.target)
        if here is None or there is None:
            continue  # not in ROWS, which is another test's fault to report
        # Two modules of one `name.*` share a place; the test of cycles orders them.
        if there > here:
            faults.append(f"{found} goes from row {here[0]} to row {there[0]}")
        for package, lowest in LOWEST_ROW_SEEN.items():
            leaves = not within(found.target, package)
            if leaves and within(found.importer.name, package) and there[0] > lowest:
                faults.append(f"{found}: {package} sees rows 0 to {lowest} only")
    check(faults)


def test_no_import_cycles() -> None:
    edges: dict[str, set[str]] = {name: set() for name in modules()}
    for found in running_own_imports():
        edges[found.importer.name].add(found.target)
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        check([" <- ".join(error.args[1])])


def test_no_own_import_in_functions() -> None:
    check(i for i in imports() if i.in_function and i.target in modules())


class RuntimeNames(ast.NodeVisitor):
    """Collects the names that a module reads outside annotations."""

    def __init__(self) -> None:
        self.read: dict[str, int] = {}
        self.for_types: set[str] = set()

    def visit_If(self, node: ast.If) -> None:
        if not is_for_types(node) or node.orelse:
            return self.generic_visit(node)
        for statement in node.body:
            for alias in getattr(statement, "names", ()):
                self.for_types.add(alias.asname or alias.name.partition(".")[0])

    def visit_arg(self, node: ast.arg) -> None:
        """Pass by: it holds nothing but an annotation."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_function

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.read.setdefault(node.id, node.lineno)


def test_imports_for_types_serve_annotations_only() -> None:
    faults = []
    for module in modules().values():
        names = RuntimeNames()
        names.visit(module.tree)
        for name in sorted(names.for_types & names.read.keys()):
            where = module.at(names.read[name])
            faults.append(f"{where}: {name} is imported for types only, but read here")
    check(faults)


def test_libraries_stay_in_their_homes() -> None:
    check(
        f"{found}: only {' and '.join(homes)} may"
        for found in imports()
        for library, homes in HOMES.items()
        if within(found.target, library)
        and not any(within(found.importer.name, home) for home in homes)
    )


def test_import_leaves_heavy_libraries_alone() -> None:
    code = f"import sys, gtape; print(*{NOT_AT_START!r} & set(sys.modules))"
    child = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert child.returncode == 0, child.stderr
    assert child.stdout.split() == []


def functions(tree: ast.AST, name: str) -> Iterator[tuple[str, int, int]]:
    """Give name, first line and length of every function, inner ones too."""
    for node in ast.iter_child_nodes(tree):
        inner = name
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{name}.{node.name}"
            if not isinstance(node, ast.ClassDef):
                yield inner, node.lineno, node.end_lineno - node.lineno + 1
        yield from functions(node, inner)


def check_sizes(
    sizes: Iterable[tuple[str, str, int]], ceiling: int, exceptions: dict[str, int]
) -> None:
    """Take (name, where, length) of everything that has a ceiling."""
    faults, needed = [], set()
    for name, where, length in sizes:
        limit = exceptions.get(name, ceiling)
        if length > limit:
            faults.append(f"{where}: {name} has {length} lines, at most {limit}")
        if length > ceiling:
            needed.add(name)
    faults += [f"{n}: needs no exception any more" for n in exceptions.keys() - needed]
    check(faults)


def test_files_are_short() -> None:
    sizes = ((m.name, m.at(1), m.length) for m in modules().values())
    check_sizes(sizes, FILE_LINES, LONG_FILES)


def test_functions_are_short() -> None:
    sizes = (
        (name, module.at(line), length)
        for module in modules().values()
        for name, line, length in functions(module.tree, module.name)
    )
    check_sizes(sizes, FUNCTION_LINES, LONG_FUNCTIONS)


def test_nothing_names_a_machine() -> None:
    folders = "home|root|tmp|work|mnt|opt|srv|Users"  # without "/": not found here
    path = re.compile(rf"(?<![\w.~)\]}}/-])/(?:{folders})\b(?!\()|\b[A-Z]:\\\w")
    files = [ROOT / "Makefile", ROOT / ".ci/run"]
    files += (file for end in ("md", "toml") for file in ROOT.glob(f"*.{end}"))
    for folder in ("gtape", "tests", "examples", "benchmarks"):
        files += (f for f in (ROOT / folder).rglob("*") if f.suffix in (".py", ".md"))
    check(
        f"{file.relative_to(ROOT)}:{number}: a path of one computer: {line.strip()}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1)
        if path.search(line)
    )


def test_every_module_has_a_docstring() -> None:
    check(m.at(1) for m in modules().values() if not ast.get_docstring(m.tree))


def test_public_surface_is_spelled_out() -> None:
    import gtape

    listed = gtape.__all__
    check(f"{n}: twice in __all__" for n in set(listed) if listed.count(n) > 1)
    check(f"{n}: in __all__ but missing" for n in listed if not hasattr(gtape, n))
    # Importing leaves submodules behind as names; those are public only if listed.
    check(
        f"{name}: not in __all__"
        for name, value in vars(gtape).items()
        if name not in listed
        and not name.startswith("_")
        and value is not sys.modules.get(f"gtape.{name}")
    )


def test_public_objects_have_docstrings() -> None:
    import gtape

    faults = []
    for name in gtape.__all__:
        value = getattr(gtape, name)
        # An instance shows the docstring of its class, which tells nothing about it.
        borrowed = None if inspect.isclass(value) else type(value).__doc__
        if callable(value) and value.__doc__ in (None, "", borrowed):
            faults.append(f"gtape.{name}: no docstring")
    check(faults)


def test_every_primitive_is_in_the_table() -> None:
    from gtape.primitive import registry
    from tests.ops.table import RECORDS

    declared = set(registry())
    recorded = {record.primitive for record in RECORDS if not record.composed}
    check(f"{n}: not in tests/ops/table.py" for n in sorted(declared - recorded))
    check(f"{n}: no such primitive" for n in sorted(recorded - declared))

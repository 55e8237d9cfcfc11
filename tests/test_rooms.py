"""The plan of the package: which room imports which, what is public, and how long a function is."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import graphfill
import graphfill.pyg

ROOT = Path(graphfill.__file__).parent

# Each room, and the rooms it may import; CONTRIBUTING.md shows the same table.
MAY_IMPORT = {
    "errors": "",
    "kernels": "errors",
    "graph": "errors kernels",
    "solve": "errors kernels graph",
    "imputers": "errors kernels graph solve",
    "hetero": "errors kernels graph solve",
    "trust": "errors kernels graph solve",
    "io": "errors",
    "links": "errors kernels graph io",
    "report": "errors io",
    "table": "errors kernels graph links solve trust io report",
    "large": "errors kernels graph links solve trust io table",
    "pyg": "errors kernels graph solve imputers hetero",
    "bench": "errors kernels graph solve imputers hetero trust io table pyg",
    "app": "errors",
    "cli": "errors kernels graph links solve trust io report table large bench app",
}
# Packages that only some rooms import, here or late.
KEPT_TO = {
    "argparse": {"cli"},
    "torch": {"pyg", "bench"},
    "torch_geometric": {"pyg", "bench"},
    "matplotlib": {"bench", "report"},
    "jinja2": {"report"},
    "distributed": {"large"},
    "pyspark": {"large"},
}
LONGEST_BODY, MOST_PARAMETERS = 60, 12
PUBLIC = {*graphfill.__all__, *graphfill.pyg.__all__}


def modules():
    """Every module of the package by its dotted name, as (is it a package, its syntax tree)."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = ["graphfill", *path.relative_to(ROOT).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found[name] = is_package, ast.parse(path.read_text(encoding="utf-8"))
    return found


MODULES = modules()


def imports(name):
    """What a module imports, at the top and late: dotted names."""
    is_package, tree = MODULES[name]
    package = name.split(".") if is_package else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert [alias.name for alias in node.names] != ["*"], f"{name} has a star import"
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *(node.module or "").split(".")]).rstrip(".")
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                compiled = (ROOT.parent / Path(*inner.split("."))).with_suffix(".pyi")
                yield inner if inner in MODULES or compiled.exists() else module


def room_of(name):
    parts = name.replace("graphfill.__main__", "graphfill.cli.__main__").split(".")
    return parts[1] if parts[0] == "graphfill" and len(parts) > 1 else None


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_one_way(name):
    room = room_of(name)
    if room is None:  # the package itself, which loads public names on first use
        return
    allowed = {room, *MAY_IMPORT[room].split()}
    for imported in imports(name):
        other = room_of(imported)
        assert other is None or other in allowed, f"{name} imports {imported}"
        top = imported.split(".")[0]
        assert room in KEPT_TO.get(top, {room}), f"{name} imports {imported}"


def test_no_import_is_late_to_hide_a_cycle():
    graph = {
        name: {other for other in imports(name) if other in MODULES and other != name}
        for name in MODULES
        if name != "graphfill"
    }
    for name, others in graph.items():
        # A package's own door imports its modules, which do not import the door.
        graph[name] = {other for other in others if other != "graphfill"}
    list(TopologicalSorter(graph).static_order())


def test_what_is_not_public_begins_with_an_underscore():
    top = [path for path in ROOT.iterdir() if not path.name.startswith(("_", "."))]
    assert {path.stem for path in top} - {"py"} == set(MAY_IMPORT)
    for name in MODULES:
        parts = name.split(".")[2:]
        assert not parts or any(part.startswith("_") for part in parts), f"{name} looks public"


@pytest.mark.parametrize("name", MODULES)
def test_functions_are_short_and_take_few_parameters(name):
    for node in ast.walk(MODULES[name][1]):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
        assert lines <= LONGEST_BODY, f"{name}.{node.name} has {lines} lines"
        arguments = node.args
        count = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
        if node.name not in PUBLIC and node.name != "__init__":
            assert count <= MOST_PARAMETERS, f"{name}.{node.name} takes {count} parameters"


def test_public_classes_say_where_they_are_found():
    for package in (graphfill, graphfill.pyg):
        for name in package.__all__:
            value = getattr(package, name)
            if isinstance(value, type):
                assert value.__module__ == package.__name__, name

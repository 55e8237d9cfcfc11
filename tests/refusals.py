"""Every refusal of the package, read from its source: ``python tests/refusals.py`` lists them."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "graphfill"


def text_of(node):
    """The sentence that an expression makes, with {} for what it is about; None if it has none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = text_of(node.left), text_of(node.right)
        return None if None in parts else "".join(parts)
    return None


def refusals():
    """Where each refusal is made, and its sentence."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = getattr(node, "func", None)
            if isinstance(called, ast.Name) and called.id in ("InputError", "CellTypeError"):
                sentence = text_of(node.args[0]) if node.args else None
                if sentence is not None:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", sentence


if __name__ == "__main__":
    for place, sentence in refusals():
        print(f"{place}\n    {sentence}")

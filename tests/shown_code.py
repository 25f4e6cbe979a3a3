"""What Python code that a reader sees takes from this project: the facade, and nothing else."""

import ast

import headscope as hs

ROOMS = ("models", "analysis", "viz", "train", "benchmarks", "notebooks", "tests")


def beside_the_facade(code: str) -> list[str]:
    """Modules of this project that code imports, and names of the facade that are not there."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names if _is_inside(each.name)]
        elif isinstance(node, ast.ImportFrom) and _is_inside(node.module or "."):
            found.append(node.module or ".")
        elif isinstance(node, ast.Attribute) and _is_facade(node.value) and not _has(node.attr):
            found.append(f"hs.{node.attr}")
    return found


def _is_inside(module: str) -> bool:
    top, _, rest = module.partition(".")
    return top in ROOMS or top in ("", "headscope_views") or (top == "headscope" and bool(rest))


def _is_facade(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "hs"


def _has(name: str) -> bool:
    return name in dir(hs)

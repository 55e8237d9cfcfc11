"""How Sphinx builds these pages: `make docs`."""

import re
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import graphfill

project = "graphfill"
author = copyright = "The graphfill developers"
version = release = graphfill.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
]
exclude_patterns = ["_build", "paper/tables"]
html_theme = "furo"
html_math_renderer = "mathml"
html_title = "graphfill"
html_show_sphinx = False
html_static_path = []
templates_path = ["templates"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False  # the templates list them
numpydoc_xref_param_type = False

# Pages that benchmarks write, which may not have been written yet.
MEASURED = ("speed", "paper/README")


def setup(app):
    app.add_html_math_renderer("mathml", (draw_math, None), (draw_math, None))
    app.connect("source-read", leave_out_unwritten)
    app.connect("env-get-outdated", lambda *_: ["index"])  # pages may have come or gone
    app.connect("missing-reference", find_public_name)
    app.connect("autodoc-process-docstring", escape_shapes, priority=900)  # after numpydoc


def draw_math(translator, node):
    """Formulas as browsers draw them by themselves: no script to fetch."""
    block = isinstance(node, nodes.math_block)
    translator.body.append(tex2mathml(node.astext(), as_block=block))
    raise nodes.SkipNode


def leave_out_unwritten(app, name, source):
    """Take pages that are not there out of the front page's list."""
    if name == "index":
        for page in MEASURED:
            if not (Path(app.srcdir) / f"{page}.md").exists():
                source[0] = source[0].replace(f"\n{page}\n", "\n")


def find_public_name(app, env, node, content):
    """Docstrings call public names by their last part, whatever module they stand in."""
    if node.get("refdomain") == "py" and node["reftarget"] in graphfill.__all__:
        target = f"graphfill.{node['reftarget']}"
        domain = env.domains.python_domain
        return domain.resolve_xref(
            env, node["refdoc"], app.builder, node["reftype"], target, node, content
        )
    return None


def escape_shapes(app, what, name, obj, options, lines):
    """The shape (n_features_in_,) holds a name, not a link."""
    lines[:] = [re.sub(r"\((\w+)_,\)", r"(\1\\_,)", line) for line in lines]

"""How sets, methods and numbers are called in tables, figures and sentences."""

from __future__ import annotations

from collections.abc import Sequence

SETS = {
    "cora": "Cora",
    "citeseer": "CiteSeer",
    "pubmed": "PubMed",
    "photo": "Photo",
    "computers": "Computers",
    "arxiv": "OGBN-Arxiv",
    "products": "OGBN-Products",
}
METHODS = {
    "full": "full features",
    "full-binary": "full features as 0 and 1",
    "fp": "Feature Propagation",
    "fp-exact": "Feature Propagation, exact",
    "fp-loops": "Feature Propagation, self-loops",
    "zero": "zero",
    "random": "random",
    "mean": "global mean",
    "neighbors": "neighbour mean",
    "mgcnn": "MGCNN",
    "pagnn": "PaGNN",
    "gcnmf": "GCNMF",
    "labels": "label propagation",
    "labels-plain": "label propagation, no self-loops",
    "positional": "positional encodings",
    "positional-rest": "positional encodings, without the first",
    "positional-raw": "positional encodings, not scaled",
}


def of_set(name: str) -> str:
    """What people call a set; a name of its own is kept."""
    return SETS.get(name, name)


def of_method(name: str) -> str:
    """What people call a method."""
    return METHODS.get(name, name)


def of_rate(rate: float) -> str:
    """A share as percent.

    >>> of_rate(0.995), of_rate(0.5)
    ('99.5 %', '50 %')
    """
    return f"{round(100 * rate, 3):g} %"


def signed(number: float, digits: int = 2) -> str:
    """With its sign, a true minus, and no minus before zero.

    >>> signed(1.234), signed(-0.5), signed(-0.001)
    ('+1.23', '−0.50', '0.00')
    """
    text = f"{number:+.{digits}f}"
    if float(text) == 0:
        return text[1:]
    return text.replace("-", "−")


def listed(words: Sequence[str]) -> str:
    """As a sentence lists them.

    >>> listed(["Cora", "Photo", "PubMed"])
    'Cora, Photo and PubMed'
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def times(n: int, what: str) -> str:
    """A count and its noun.

    >>> times(1, "run"), times(5, "run")
    ('1 run', '5 runs')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def sentence(text: str) -> str:
    """With a capital and a full stop.

    >>> sentence("where cells are missing, look")
    'Where cells are missing, look.'
    """
    return f"{text[0].upper()}{text[1:]}."

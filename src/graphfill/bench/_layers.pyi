"""Signatures of the compiled extension; _compiled_layers explains them."""

from collections.abc import Callable

product: Callable[..., None]
rectify: Callable[..., None]
rectify_gradient: Callable[..., None]

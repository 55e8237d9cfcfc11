"""Signatures of the compiled extension; csrc/network.h explains them."""

from collections.abc import Callable

product: Callable[..., None]
rectify: Callable[..., None]
rectify_gradient: Callable[..., None]

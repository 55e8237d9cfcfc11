"""Torch on one thread here as in the tests of bench."""

from bench.conftest import one_thread  # noqa: F401

"""The paper's experiments, and your own methods and graphs beside them."""

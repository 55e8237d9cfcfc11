"""How far a fill can be trusted: held-out cells, scores, the choice of a method, intervals."""

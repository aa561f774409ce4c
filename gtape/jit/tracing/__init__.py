"""Running once with symbols, to build a graph."""

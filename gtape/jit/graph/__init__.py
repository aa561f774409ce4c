"""The graph IR: its classes, its text, its invariants, its oracle."""

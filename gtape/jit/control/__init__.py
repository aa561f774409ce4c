"""The constructs of the graph: how each is built, and its reverse rule.

Importing the package declares them all.
"""

from gtape.jit.control.cond import COND
from gtape.jit.control.custom_rule import CUSTOM_RULE
from gtape.jit.control.loop_rules import FOR, WHILE

__all__ = ["COND", "CUSTOM_RULE", "FOR", "WHILE"]

"""LLVM IR for compiled functions: scalar expressions, and the host's mathematics."""

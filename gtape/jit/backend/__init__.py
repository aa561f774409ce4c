"""Back ends: what turns a program into machine code, and what keeps it on disk."""

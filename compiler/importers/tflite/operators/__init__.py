"""Lowering functions by operator family; a new file here is found by itself."""

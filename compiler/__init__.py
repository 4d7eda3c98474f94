"""Kiln: compiles a trained network ahead of time into firmware.

The commands are functions of this package: ``build``, ``flash``, ``run``, ``profile``, ... as
`compiler.api` documents them.
"""

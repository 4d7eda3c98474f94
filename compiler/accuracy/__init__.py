"""Accuracy before anything is flashed: the float model against the quantized one and the board.

`check.check` is the command; ``evaluate`` shares the data set out, ``layers`` says where precision
is lost and what to try.
"""

"""Kiln: compiles a trained network ahead of time into firmware."""

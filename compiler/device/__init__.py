"""Boards from the host's side: toolchains, images, runners, the serial protocol."""

"""The commands, one file each; ``main`` finds them by scanning this folder."""

"""``python -m compiler``: the command line."""

from __future__ import annotations

from compiler.cli.main import main

if __name__ == "__main__":
    main()

"""The one exception that reaches a user: what is wrong, which rule it breaks, what to do."""

from __future__ import annotations


class KilnError(Exception):
    """A failure that is explained in one line.

    ``message`` names the operator, tensor, file or board, the rule broken and the remedy.
    ``kind`` is a stable word for scripts, printed as ``"kind"`` with ``--json``.
    """

    kind = "error"
    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class UsageError(KilnError):
    """The command was asked for something that does not exist or does not make sense."""

    kind = "usage"
    exit_code = 2


class ModelError(KilnError):
    """The model file is damaged, or breaks the rules of its format."""

    kind = "model"


class UnsupportedError(KilnError):
    """The model is sound, but uses something that Kiln or the target does not have."""

    kind = "unsupported"


class FitError(KilnError):
    """The model does not fit the memory of the board."""

    kind = "does-not-fit"


class ToolError(KilnError):
    """A program that is needed (compiler, emulator, flasher) is missing or failed."""

    kind = "tool"


class BoardError(KilnError):
    """The board does not answer, answers garbage, or reports a failure."""

    kind = "board"


class Stopped(Exception):
    """Not a failure: ``--stop-after`` was reached; ``text`` is what the stage made."""

    def __init__(self, stage: str, text: str) -> None:
        super().__init__(stage)
        self.stage = stage
        self.text = text

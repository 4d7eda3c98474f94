"""pyOCD: flashes and resets through a debug probe, installed by pip."""

from __future__ import annotations

from compiler.device.runners.base import Missing, Runner, missing_program, run_tool, runner


@runner("pyocd")
class PyOcdRunner(Runner):
    """Option: ``target``, pyOCD's name of the chip."""

    can_flash = True

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return port is None or port.startswith("/dev/")

    def missing_tools(self) -> list[Missing]:
        return missing_program("pyocd", "pip install pyocd")

    def flash(self) -> str:
        run_tool(["pyocd", "load", "--target", self.option("target"), str(self.image)])
        self.reset()
        return f"wrote '{self.image}' to board '{self.board.name}' by pyocd"

    def reset(self) -> None:
        run_tool(["pyocd", "reset", "--target", self.option("target")])

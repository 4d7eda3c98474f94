"""OpenOCD: flashes and resets through a debug probe."""

from __future__ import annotations

from compiler.device.runners.base import Missing, Runner, missing_program, run_tool, runner


@runner("openocd")
class OpenOcdRunner(Runner):
    """Options: ``configuration``, the files given by -f: interface, then target."""

    can_flash = True

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return port is None or port.startswith("/dev/")

    def missing_tools(self) -> list[Missing]:
        return missing_program("openocd", "apt-get install openocd")

    def flash(self) -> str:
        path = str(self.image.resolve())
        self._run(f"program {{{path}}} verify reset exit")
        return f"wrote and verified '{self.image}' on board '{self.board.name}' by openocd"

    def reset(self) -> None:
        self._run("init; reset run; exit")

    def _run(self, commands: str) -> None:
        files = [part for name in self.arguments("configuration") for part in ("-f", name)]
        run_tool(["openocd", *files, "-c", commands])

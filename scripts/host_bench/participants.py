"""The processes that are timed against each other, a sample from each in turn."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SAMPLE_NS = 1e6  # a sample is about so long, and one inference at least
RETRIES = 12  # of a sample that the system interrupted


class ParticipantError(Exception):
    """A participant that does not start, or ends early."""


@dataclass
class Participant:
    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    cpus: frozenset[int]
    samples: list[float] = field(default_factory=list)

    def start(self) -> Participant:
        # In the child alone: this process must not run where the others do.
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**os.environ, **self.environment}, preexec_fn=self._pin,
        )  # fmt: skip
        self.ready = self._answer()
        self.count = 1
        for _ in range(3):
            self.count = max(1, int(SAMPLE_NS / max(self._ask()["ns"], 1)))
        return self

    def _pin(self) -> None:
        os.sched_setaffinity(0, self.cpus)

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None and self.process.stderr is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        said = self.process.stderr.read().strip().splitlines() or ["it ended"]
        raise ParticipantError(f"{self.name}: {said[-1]}")

    def _ask(self) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{self.count}\n")
        self.process.stdin.flush()
        return self._answer()

    def sample(self) -> None:
        """One more sample, repeated where another process had the CPU meanwhile."""
        answers = []
        for _ in range(RETRIES):
            answers.append(self._ask())
            if not answers[-1]["interrupted"]:
                break
        best = min(answers, key=lambda a: (a["interrupted"], a["ns"]))
        self.samples.append(best["ns"])

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def result(self) -> dict[str, Any]:
        """Microseconds: median, and the spread as the quartiles' distance over it."""
        low, median, high = statistics.quantiles(self.samples, n=4)
        return {
            "us": median / 1e3, "spread": (high - low) / median,
            "best_us": min(self.samples) / 1e3, "samples": len(self.samples), **self.ready,
        }  # fmt: skip


def race(participants: Sequence[Participant], samples: int) -> dict[str, dict[str, Any]]:
    """Times all, interleaved; one that fails to start is ``{"error": line}``."""
    started: list[Participant] = []
    results: dict[str, dict[str, Any]] = {}
    for participant in participants:
        try:
            started.append(participant.start())
        except (ParticipantError, OSError) as error:
            results[participant.name] = {"error": str(error)}
    try:
        for _ in range(samples):
            for participant in started:
                participant.sample()
    finally:
        for participant in started:
            participant.close()
    return {p.name: p.result() for p in started} | results

"""The trace has one slice per step, end to end, and the arena as a counter."""

from __future__ import annotations

import json

from compiler.report.perfetto import trace_events
from tests.report.examples import profile_json


def test_slices_follow_each_other_and_add_up() -> None:
    trace = trace_events(profile_json())
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [event["name"] for event in slices] == ["conv2d", "fully_connected"]
    assert [(event["ts"], event["dur"]) for event in slices] == [(0.0, 30.0), (30.0, 10.0)]
    assert slices[0]["args"]["macs"] == 18432 and slices[0]["args"]["cycles"] == 30000


def test_counter_follows_the_live_bytes() -> None:
    events = trace_events(profile_json())["traceEvents"]
    counts = [(event["ts"], event["args"]["bytes"]) for event in events if event["ph"] == "C"]
    assert counts == [(0.0, 448), (30.0, 266), (40.0, 0)]


def test_the_unit_is_told_and_everything_is_json() -> None:
    trace = trace_events(profile_json())
    assert "1 ns = 1 cycle" in trace["traceEvents"][0]["args"]["name"]
    assert trace["otherData"]["board"] == "host"
    json.dumps(trace)
    nanoseconds = trace_events(profile_json() | {"unit": "ns"})
    assert nanoseconds["traceEvents"][0]["args"]["name"] == "host"


def test_a_profile_without_live_bytes_has_no_counter() -> None:
    profile = profile_json()
    for step in profile["steps"]:
        del step["live_bytes"]
    events = trace_events(profile)["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X"}
    assert trace_events(profile | {"steps": []})["traceEvents"]

"""A program that crashes: what it says, what is counted, and which calls are refused for it."""

import json
import os
import re
import signal
import time

import pytest

from app import App
from metrics import Metrics
from stack import new_stack
from watching import Watching


def crash(stack, name):
    """Ends a program as a trap of its own would, and waits until it runs again; returns the lines that it logged since."""
    before = stack.process_of(name)
    log = stack.folder / f"logs/{name}.log"
    already = len(log.read_text().splitlines())
    os.kill(before, signal.SIGILL)
    stack.wait_for_restart(name, before)
    # The shell says how its child ended, too.
    return [line for line in log.read_text().splitlines()[already:] if line != "Illegal instruction"]


def crashes_counted(stack, name):
    samples = Metrics(stack.metrics_addresses[name]).samples
    return samples[("vestibule_crashes_total", frozenset())]


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_a_crash_is_logged_with_the_calls_in_flight_and_counted(log_format):
    with new_stack(VESTIBULE_LOG_FORMAT=log_format) as stack:
        stack.start()
        app = App(stack)
        app.sign_in()
        app.complete()
        assert crashes_counted(stack, "invites") == 0
        # While somebody watches, a stream of the gateway is in flight at invites.
        with Watching(app):
            lines = crash(stack, "invites")
        told = [line for line in lines if "crashed" in line and "SIGILL" in line]
        assert told and "/vestibule.invites.v1.InvitesService/WatchGroups" in told[0], lines
        if log_format == "json":
            line = json.loads(told[0])
            assert line["level"] == "critical" and line["logger"] == "invites" and line["signal"] == "SIGILL"
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
            # A signal from outside happens in no call.
            assert "method" not in line and line["in_flight_count"] == len(line["in_flight"]) >= 1
        assert crashes_counted(stack, "invites") == 1
        assert crashes_counted(stack, "profile") == 0
        # And all is well again.
        app.create_group()
        assert stack.stop() == 0
        stack.expect_no_confidences()


def test_a_method_that_a_program_crashed_on_three_times_is_refused():
    method = "/vestibule.app.v1.GroupService/CreateGroup"
    with new_stack(VESTIBULE_LOG_FORMAT="json") as stack:
        stack.start()
        app = App(stack)
        app.sign_in()
        app.complete()
        app.create_group()
        # As three crashes in that method leave them: no request of ours makes one.
        for number in range(3):
            report = stack.folder / f"crashes/invites-test{number}.crash"
            report.write_text(f"signal SIGILL\nversion 1\nseconds {int(time.time())}\nrunning {method} request-{number}\nend\n")
        lines = crash(stack, "invites")
        assert any(json.loads(line).get("method") == method and json.loads(line)["level"] == "critical" for line in lines)
        refused = app.post("/groups", {"name": "Trip"})
        assert refused.status == 503 and refused.code == "METHOD_SUSPENDED"
        assert 1 <= int(refused.headers["Retry-After"]) <= 300
        app.get("/groups").expect(200)
        samples = Metrics(stack.metrics_addresses["invites"]).samples
        assert samples[("vestibule_methods_suspended", frozenset())] == 1
        assert samples[("vestibule_crashes_total", frozenset())] == 4
        assert stack.stop() == 0


def test_a_route_that_the_gateway_crashed_on_three_times_is_refused():
    with new_stack() as stack:
        stack.start()
        app = App(stack)
        app.sign_in()
        for number in range(3):
            report = stack.folder / f"crashes/gateway-test{number}.crash"
            report.write_text(f"signal SIGILL\nversion 1\nseconds {int(time.time())}\nrunning GET /groups request-{number}\nend\n")
        crash(stack, "gateway")
        refused = app.get("/groups")
        assert refused.status == 503 and refused.code == "METHOD_SUSPENDED"
        app.get("/me").expect(200)
        assert stack.stop() == 0

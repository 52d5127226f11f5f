"""Compose's profile `monitoring`: what Prometheus reads, and what Alertmanager gets."""

import time

from stack import send

# Prometheus sends an alert again after a minute: the first may come before Alertmanager's name is known.
SECONDS = 150
PROGRAMS = {"identity", "profile", "invites", "gateway"}


def eventually(ask, what):
    """The first true answer of `ask`."""
    limit = time.monotonic() + SECONDS
    while True:
        try:
            answer = ask()
        except OSError:
            answer = None
        if answer:
            return answer
        assert time.monotonic() < limit, f"not within {SECONDS} s: {what}"
        time.sleep(0.5)


def programs_are_read(address):
    def up():
        status, told, _ = send(address, "GET", "/api/v1/query?query=up")
        assert status == 200, told
        found = {one["metric"]["job"] for one in told["data"]["result"] if one["value"][1] == "1"}
        return found if found == PROGRAMS else None
    eventually(up, "each program to be read")
    status, told, _ = send(address, "GET", "/api/v1/rules")
    rules = [rule for group in told["data"]["groups"] for rule in group["rules"]]
    assert len(rules) > 40, len(rules)
    return f"{len(PROGRAMS)} programs, {len(rules)} alerts"


def alerts_arrive(address):
    def watchdog():
        status, told, _ = send(address, "GET", "/api/v2/alerts")
        return status == 200 and [one for one in told if one["labels"]["alertname"] == "Watchdog"]
    (alert,) = eventually(watchdog, "the watchdog at Alertmanager")
    return f"{alert['annotations']['summary']}: {alert['annotations']['runbook_url']}"

"""How much a call writes to the logs, and that the containers keep a week of it (docs/run/containers.md)."""

import json
import pathlib
import re
import zlib

import pytest

import process_table
from app import App
from stack import MEASURED, new_stack

COMPOSE = pathlib.Path(__file__).resolve().parents[2] / "docker/compose.yaml"
CALLS_PER_SECOND = 100
WEEK_SECONDS = 7 * 86_400
ROUNDS = 40
UNITS = {"k": 1000, "m": 1000**2, "g": 1000**3}


@pytest.fixture(scope="module")
def bytes_per_call():
    """Of each program, as the driver json-file writes its lines: for each call of the gateway, of calls as an app makes them."""
    with new_stack(VESTIBULE_LOG_FORMAT="json", VESTIBULE_LOG_LEVEL="info") as stack:
        stack.start()
        app = App(stack)
        app.sign_in()
        app.complete()
        group = app.create_group("A group")
        before = {name: len(text) for name, text in stack.logs().items()}
        calls = 0
        for _ in range(ROUNDS):
            app.refresh().expect(200)
            for path in ("/me", "/groups", f"/groups/{group}/members", f"/groups/{group}/pending", "/auth/sessions"):
                app.get(path).expect(200)
            calls += 6
        app.get("/healthz", headers={"X-Request-Id": "the-last"})
        process_table.wait_until(lambda: "the-last" in stack.logs()["gateway.log"], 10, "the last request in the log")
        found = {}
        for name in MEASURED:
            lines = stack.logs()[f"{name}.log"][before[f"{name}.log"]:].splitlines()
            # As Docker's json-file writes them.
            written = "".join(
                json.dumps({"log": line + "\n", "stream": "stderr", "time": f"2026-01-01T00:00:00.{number:09d}Z"}, separators=(",", ":")) + "\n"
                for number, line in enumerate(lines)).encode()
            assert json.loads(lines[-1])["level"]
            found[name] = (len(written) / calls, len(zlib.compress(written)) / len(written))
        print({name: (round(size), round(ratio, 3)) for name, (size, ratio) in found.items()})
        return found


def options(service):
    """The logging options of a service, from the anchors of the file."""
    text = COMPOSE.read_text()
    anchor = re.search(r"^x-service: &service\n(?:  .*\n|\n)*?  logging:\n((?:    .*\n)+)", text, re.MULTILINE)
    body = re.search(rf"^  {service}:\n((?:    .*\n|\n)+)", text, re.MULTILINE)[1]
    assert "<<: *service" in body and "logging:" not in body
    return dict(re.findall(r"(max-size|max-file|compress): \"?(\w+)", anchor[1]))


@pytest.mark.parametrize("service", MEASURED)
def test_the_containers_keep_a_week_at_a_hundred_calls_a_second(bytes_per_call, service):
    size, ratio = bytes_per_call[service]
    given = options(service)
    assert given["compress"] == "true"
    kept = int(given["max-size"][:-1]) * UNITS[given["max-size"][-1]] * int(given["max-file"])
    needed = size * CALLS_PER_SECOND * WEEK_SECONDS
    assert needed <= kept, f"{service} writes {size:.0f} bytes a call: {needed / 1e9:.0f} GB a week, and {kept / 1e9:.0f} GB are kept"
    # Not more than the page says that a disk must have, compressed.
    assert kept * ratio < 10e9

"""The cases with the Swift kit's own transport, URLSession. Its driver has another one elsewhere: Foundation of Linux ends the process
where a connection ends within the head of a response, so cases that cut responses there are left out."""

import json

import pytest

import driver
import event_loop
import interpreter

CASES = {name: case for name, case in interpreter.load().items() if "cutAnswer" not in json.dumps(case)}


@pytest.fixture(scope="module")
def command():
    command = driver.command("swift")
    if command is None:
        pytest.skip("the driver of swift is not built")
    return [*command, "--urlsession"]


@pytest.mark.parametrize("name", CASES)
def test_case(command, name):
    case = CASES[name]
    if "swift" not in case.get("kits", ["swift"]):
        pytest.skip("for another kit")
    event_loop.run(interpreter.run_case(command, case))

"""Each case with each kit."""


import pytest

import event_loop
import interpreter

CASES = interpreter.load()


@pytest.mark.parametrize("name", CASES)
def test_case(kit, name):
    kit_name, command = kit
    case = CASES[name]
    if kit_name not in case.get("kits", [kit_name]):
        pytest.skip("for another kit")
    event_loop.run(interpreter.run_case(command, case))

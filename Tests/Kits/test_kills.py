"""200 real kills a kit: SIGKILL of a process that refreshes."""

import asyncio

import event_loop
from kills import Kills

#: Pairs of processes that run at the same time.
LANES = 2


async def kill_all(command, first_seed, count):
    await asyncio.gather(*(Kills(command, first_seed + lane).run(count // LANES) for lane in range(LANES)))


def test_kills(kit, pytestconfig):
    _, command = kit
    event_loop.run(kill_all(command, pytestconfig.getoption("seed"), pytestconfig.getoption("kills")))

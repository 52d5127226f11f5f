"""Random histories: 300 a kit in `make test`, 10,000 in `make soak-kits`."""

import asyncio
import contextlib

import event_loop
from driver import Driver
from histories import History

#: Histories that are lived at the same time, by as many pairs of processes.
LANES = 4
PROCESSES = 2


@contextlib.asynccontextmanager
async def drivers(command):
    started = [await Driver.start(command) for _ in range(PROCESSES)]
    try:
        yield started
    finally:
        for each in started:
            await each.close()


async def live_all(command, seeds):
    """Lives the histories of these seeds; returns what failed."""
    seeds, failures = iter(seeds), []

    async def lane():
        async with drivers(command) as started:
            for seed in seeds:
                try:
                    await History(started, seed).live()
                except AssertionError as error:
                    failures.append((seed, str(error)))
                    if len(failures) >= 3:
                        return

    await asyncio.gather(*(lane() for _ in range(LANES)))
    return failures


def test_histories(kit, pytestconfig):
    name, command = kit
    first, rounds = pytestconfig.getoption("seed"), pytestconfig.getoption("rounds")
    failures = event_loop.run(live_all(command, range(first, first + rounds)))
    alone = [f"Tests/Kits/run.sh -k 'histories and {name}' --seed {seed} --rounds 1" for seed, _ in failures]
    assert not failures, "\n\n".join(f"{how}\n{text}" for how, (_, text) in zip(alone, failures))

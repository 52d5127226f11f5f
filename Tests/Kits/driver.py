"""A driver of a kit: its process, and what it says."""

import asyncio
import itertools
import json
import os
import pathlib
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent / "drivers"
KITS = ("javascript", "swift", "kotlin")
NOT_BUILT = 75
#: An answer may take as long as the kit's longest pause and some calls.
ANSWER_SECONDS = 20
LINE_BYTES_MAX = 1 << 20


class DriverError(AssertionError):
    """The driver didn't do what it has to."""


def command(kit):
    """The command of a kit's driver, or None if there is none."""
    path = FOLDER / kit / "command"
    if not os.access(path, os.X_OK):
        return None
    checked = subprocess.run([path, "--check"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    if checked.returncode == NOT_BUILT:
        return None
    if checked.returncode != 0:
        raise DriverError(f"{path} --check: {checked.stderr.decode()}")
    return [str(path)]


def matches(wanted, found):
    """Whether what was found has what is wanted: members of objects, one of a list of texts, all else as it is."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            matches(value, found.get(name)) if value is not None else found.get(name) is None for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(found, str):
        return found in wanted
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(matches, wanted, found))
    return wanted == found


class Driver:
    """A running driver."""

    def __init__(self, process):
        self.process = process
        self._ids = itertools.count(1)
        self._answers = {}
        #: Events that came, by client, and were not found yet.
        self.events = {}
        self._came = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, arguments, environment=None):
        return cls(await asyncio.create_subprocess_exec(
            *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LINE_BYTES_MAX,
            env={**os.environ, **(environment or {})}))

    def send(self, op, **members):
        """Sends a request; returns its id and the future of its answer."""
        number = next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self.process.stdin.write(json.dumps({"id": number, "op": op, **members}).encode() + b"\n")
        return number, self._answers[number]

    async def ask(self, op, **members):
        """Sends a request and returns its answer, with `ok` or `error`."""
        _, answer = self.send(op, **members)
        try:
            return await asyncio.wait_for(answer, ANSWER_SECONDS)
        except asyncio.TimeoutError:
            raise DriverError(f"no answer to {op} {members} within {ANSWER_SECONDS} s") from None

    async def event(self, client, members):
        """The next event of a client that has these members; those before it stay."""
        async def find():
            while True:
                for event in self.events.setdefault(client, []):
                    if matches(members, event):
                        self.events[client].remove(event)
                        return event
                self._came.clear()
                await self._came.wait()
        try:
            return await asyncio.wait_for(find(), ANSWER_SECONDS)
        except asyncio.TimeoutError:
            raise DriverError(f"no event {members} of {client} within {ANSWER_SECONDS} s; it has {self.events[client]}") from None

    def kill(self):
        """Ends the process by SIGKILL."""
        self.process.kill()

    async def close(self):
        """Ends the driver as its input ends."""
        if self.process.returncode is None:
            self.process.stdin.close()
            try:
                await asyncio.wait_for(self.process.wait(), ANSWER_SECONDS)
            except asyncio.TimeoutError:
                self.process.kill()
                await self.process.wait()
                raise DriverError("the driver doesn't end at the end of its input") from None
            if self.process.returncode != 0:
                raise DriverError(f"the driver ended with {self.process.returncode}")
        await self._reader

    async def _read(self):
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            if "id" in message:
                answer = self._answers.pop(message["id"])
                if not answer.done():
                    answer.set_result(message)
            else:
                self.events.setdefault(message.get("client"), []).append(message)
                self._came.set()
        await self.process.wait()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(DriverError(f"the driver ended with {self.process.returncode}"))
                # Nobody may wait for it, after a kill.
                answer.exception()

"""Runs the cases of `cases/*.json`; the steps are described in README.md."""

import asyncio
import json
import pathlib
import shutil
import tempfile

import driver
from driver import Driver, matches
from server import ScriptedServer

CASES = pathlib.Path(__file__).resolve().parent / "cases"
DELAY_FACTOR = 0.02
OPERATIONS_WITHOUT_CLIENT = ("cancel",)


def load():
    """All cases by their names."""
    cases = {}
    for file in sorted(CASES.glob("*.json")):
        for case in json.loads(file.read_text()):
            name = f"{file.stem}: {case['name']}"
            assert name not in cases, f"there are two cases {name}"
            cases[name] = case
    return cases


class World:
    """A server, drivers and clients."""

    server_type = ScriptedServer

    def __init__(self, command, folder, **settings):
        self.command = command
        self.store = pathlib.Path(folder) / "store"
        self.server = self.server_type(**settings)
        self.server.checks.stores.add(str(self.store))
        self.drivers = {}
        self.clients = {}
        self.skews = {}
        self.elapsed = {}
        self.advanced = 0
        self.started = {}
        self.values = {}
        self.counted = 0

    async def start(self):
        await self.server.start()
        # The same address, as an app may write it in its next version.
        self.values["urlAsWritten"] = self.server.url.replace("http:", "HTTP:") + "/"

    async def close(self):
        for driver in self.drivers.values():
            await driver.close()
        await self.server.close()

    async def driver(self, process=1):
        """The driver with that number."""
        if process not in self.drivers:
            self.drivers[process] = await Driver.start(self.command)
        return self.drivers[process]

    # Clients

    def _clock(self, client):
        return self.skews.get(client, 0) + self.advanced

    async def send(self, op, client="a", **members):
        """Sends a request of a client; returns its id and the future of the answer."""
        process = members.pop("process", None)
        if op == "open":
            driver = await self.driver(process or 1)
            self.clients[client] = driver
            self.elapsed[client] = 0
            members = {"url": self.server.url, "store": str(self.store), "delayFactor": DELAY_FACTOR,
                       "clockOffsetSeconds": self._clock(client), **members}
        return self.clients[client].send(op, client=client, **members)

    async def ask(self, op, client="a", **members):
        """Sends a request of a client and returns its answer."""
        _, answer = await self.send(op, client, **members)
        return await asyncio.wait_for(answer, driver.ANSWER_SECONDS)

    async def advance(self, seconds):
        """Time passes for the server and all clients."""
        self.advanced += seconds
        self.server.advance(seconds)
        for client in list(self.clients):
            self.elapsed[client] += seconds
            await self._set_clock(client)

    async def set_skew(self, client, seconds):
        """The user sets a client's clock."""
        self.skews[client] = seconds
        if client in self.clients:
            await self._set_clock(client)

    async def _set_clock(self, client):
        answer = await self.ask("clock", client, offsetSeconds=self._clock(client), elapsedSeconds=self.elapsed[client])
        assert "ok" in answer, answer

    def record(self):
        """The record in the store, or None."""
        files = list(self.store.glob("*.json")) if self.store.exists() else []
        assert len(files) <= 1, f"the store has several records: {files}"
        return json.loads(files[0].read_text()) if files else None

    def damage(self, text):
        file, = self.store.glob("*.json")
        file.write_text(text)

    # Steps

    async def run(self, steps):
        for number, step in enumerate(steps, 1):
            try:
                await self._step(step)
            except Exception as error:
                violations = "; ".join(self.server.checks.violations)
                raise AssertionError(f"step {number}, {json.dumps(step)}: {error} {violations}") from error

    async def _step(self, step):
        kind = next(name for name in step if name not in ("expect", "as", "client", "process"))
        await getattr(self, f"_do_{kind}")(step)

    def _filled(self, value):
        if isinstance(value, dict):
            return {name: self._filled(each) for name, each in value.items()}
        return self.values.get(value[1:], value) if isinstance(value, str) and value.startswith("$") else value

    async def _do_op(self, step):
        members = {name: self._filled(value) for name, value in step.items() if name not in ("op", "as", "expect", "client", "withinMs")}
        if step["op"] == "cancel":
            members["target"] = self.started[step["target"]][0]
        number, answer = await self.send(step["op"], step.get("client", "a"), **members)
        self.started[step.get("as", "")] = (number, answer)
        if step["op"] == "drop":
            self.clients.pop(step.get("client", "a"))
        if "withinMs" in step:
            await asyncio.wait_for(asyncio.shield(answer), step["withinMs"] / 1000)
        if "as" not in step or step["op"] in ("beginHosted", "drop"):
            await self._expect(step, answer)

    async def _do_wait(self, step):
        await self._expect(step, self.started.pop(step["wait"])[1])

    async def _expect(self, step, answer):
        found = await asyncio.wait_for(asyncio.shield(answer), driver.ANSWER_SECONDS)
        wanted = step.get("expect", {"ok": {}})
        assert matches(wanted, found), f"expected {wanted}, found {found}"

    async def _do_waiting(self, step):
        assert not self.started[step["waiting"]][1].done(), "it has been answered"

    async def _do_fault(self, step):
        self.server.add_fault(**step["fault"])

    async def _do_release(self, step):
        self.server.release()

    async def _do_clearFaults(self, step):
        self.server.clear_faults()

    async def _do_advance(self, step):
        await self.advance(step["advance"])

    async def _do_skew(self, step):
        await self.set_skew(step.get("client", "a"), step["skew"])

    async def _do_end(self, step):
        self.server.methods.end_sessions(step["end"])
        self.server.check_streams()

    async def _do_authorize(self, step):
        url = self.started.pop(step["authorize"])[1].result()["ok"]["url"]
        self.values[step["as"]] = self.server.methods.authorize(url, **step.get("with", {}))

    async def _do_event(self, step):
        members = dict(step["event"])
        client = members.setdefault("client", "a")
        await self.clients[client].event(client, members)

    async def _do_noEvent(self, step):
        members = dict(step["noEvent"])
        client = members.pop("client", "a")
        found = [each for each in self.clients[client].events.get(client, []) if matches(members, each)]
        assert not found, f"found {found}"

    async def _do_requests(self, step):
        requests, self.counted = self.server.requests[self.counted:], len(self.server.requests)
        for method, count in step["requests"].items():
            found = sum(request.method == method for request in requests)
            assert found == count, f"expected {count} of {method}, found {found}"

    async def _do_atMost(self, step):
        for method, most in step["atMost"].items():
            found = sum(request.method == method for request in self.server.requests)
            assert found <= most, f"expected {most} of {method} at most, found {found}"

    async def _do_until(self, step):
        def count(method):
            return sum(request.method == method for request in self.server.requests)

        async def until_arrived():
            while any(count(method) < wanted for method, wanted in step["until"].items()):
                await asyncio.sleep(0.01)
        await asyncio.wait_for(until_arrived(), driver.ANSWER_SECONDS)

    async def _do_last(self, step):
        request = [each for each in self.server.requests if each.method == step["last"]][-1]
        found = request.value | {"headers": request.headers}
        assert matches(step["expect"], found), f"expected {step['expect']}, found {found}"

    async def _do_same(self, step):
        """A member of all requests of a method is the same text."""
        method, member = step["same"]
        found = [each.value.get(member) for each in self.server.requests if each.method == method]
        assert len(found) > 1 and found[0] and len(set(found)) == 1, found

    async def _do_created(self, step):
        assert self.server.methods.groups_created == step["created"], self.server.methods.groups_created

    async def _do_absorbed(self, step):
        """What became of the guests, in turn."""
        found = list(self.server.methods.absorbed.values())
        assert found == step["absorbed"], found

    async def _do_record(self, step):
        found = self.record()
        assert found == step["record"] if step["record"] is None else matches(step["record"], found), f"found {found}"

    async def _do_damage(self, step):
        self.damage(step["damage"])

    async def _do_addToRecord(self, step):
        self.damage(json.dumps(self.record() | step["addToRecord"]))

    async def _do_kept(self, step):
        """A file beside the record has this text."""
        assert any(step["kept"] in file.read_text(errors="replace") for file in self.store.iterdir()), list(self.store.iterdir())

    async def _do_streams(self, step):
        async def until_open():
            while len(self.server.streams) != step["streams"]:
                await asyncio.sleep(0.01)
        await asyncio.wait_for(until_open(), driver.ANSWER_SECONDS)

    async def _do_send(self, step):
        for stream in list(self.server.streams):
            stream.send(step["send"])

    async def _do_cutStreams(self, step):
        for stream in list(self.server.streams):
            stream.cut()

    async def _do_endStreams(self, step):
        for stream in list(self.server.streams):
            stream.end_with(*step["endStreams"])

    async def _do_sleep(self, step):
        await asyncio.sleep(step["sleep"] / 1000)

    async def _do_kill(self, step):
        """Kills the process of a client."""
        driver = self.clients[step["kill"]]
        driver.kill()
        await driver.process.wait()
        self.clients = {name: each for name, each in self.clients.items() if each is not driver}
        self.drivers = {number: each for number, each in self.drivers.items() if each is not driver}

    async def _do_eachByte(self, step):
        each = step["eachByte"]
        for at in range(0, each["count"], each.get("stride", 1)):
            try:
                self.server.clear_faults()
                self.server.add_fault(kind=each["kind"], on=each["on"], at=at, times=each.get("times", 1))
                await self.run(step["steps"])
            except AssertionError as error:
                raise AssertionError(f"at byte {at}: {error}") from error

    async def _do_eachOperation(self, step):
        each = step["eachOperation"]
        for at in range(1, each["count"] + 1):
            try:
                self.values["faults"] = {"at": at, "mode": each["mode"]}
                await self.run(step["steps"])
            except AssertionError as error:
                raise AssertionError(f"at operation {at}: {error}") from error


async def run_case(command, case, world_type=World):
    """Runs a case with a driver; raises AssertionError if something is not as it should be."""
    folder = tempfile.mkdtemp(prefix="kits-")
    names = {"accessTokenSeconds": "access_token_seconds", "workBits": "work_bits"}
    settings = {setting: case[name] for name, setting in names.items() if name in case}
    world = world_type(command, folder, **settings)
    world.server.checks.in_order = case.get("inOrder", True)
    await world.start()
    try:
        await world.run(case["steps"])
        assert not world.server.checks.ended(), world.server.checks.violations
    finally:
        await world.close()
        shutil.rmtree(folder)
